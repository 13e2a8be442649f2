export { bystanderKinds } from './bystanders.ts';
export { computedKinds } from './computed.ts';
export { coreKinds } from './core.ts';
export { policyKinds } from './policies.ts';
export { workloadKinds } from './workloads.ts';
