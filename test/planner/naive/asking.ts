// What one attempt to place a pod brings along.
import type { Pod, PodSpec } from '../rules/objects.ts';
import type { Amounts } from '../rules/quantity.ts';
import type { Requirements } from '../rules/requirement.ts';

/** One attempt for one pod in its present, perhaps relaxed, form. */
export interface Asking {
  pod: Pod;
  spec: PodSpec;
  requests: Amounts;
  requirements: Requirements;
  strict: Requirements;
  volumes: Requirements[];
}
