// Kinds that only the simulated workload controllers deal with.
import type { Job as V1Job } from 'kubernetes-types/batch/v1.js';
import type { KubeObject, Resource } from '../../ports/index.ts';

export type Job = Omit<V1Job, 'metadata' | 'apiVersion' | 'kind'> & KubeObject;

export const jobs: Resource<Job> = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
