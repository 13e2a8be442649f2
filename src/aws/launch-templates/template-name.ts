// The name of a launch template says what is in it: equal templates have equal names, whoever makes them and in whatever
// order their lists were written, so that an existing one is found instead of made again.
import { createHash } from 'node:crypto';
import type { LaunchTemplateSpec } from './launch-template.ts';

export const templateNamePrefix = 'karpenter.k8s.aws/';

export function launchTemplateName(spec: LaunchTemplateSpec): string {
  const digest = createHash('sha256').update(canonical(spec)).digest();
  return `${templateNamePrefix}${digest.readBigUInt64BE()}`;
}

/** Text that is equal exactly when the values are, but for the order of keys and list entries; absent equals undefined. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
  return `{${entries.sort().join()}}`;
}
