export { type AccessOptions, type ClusterAccess, findAccess } from './access.ts';
export { KubeClient, type KubeClientOptions } from './client.ts';
export type { RequestFacts } from './transport.ts';
