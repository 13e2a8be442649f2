// The entries of registration/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { apiServerUnreachable } from './api-server-unreachable.ts';
import { kubeletNeverPostedStatus } from './kubelet-never-posted-status.ts';
import { nodeRoleNotMapped } from './node-role-not-mapped.ts';
import { serviceEndpointsUnreachable } from './service-endpoints-unreachable.ts';
import { undiagnosedTimeout } from './undiagnosed-timeout.ts';
import { unregisteredTaintMissing } from './unregistered-taint-missing.ts';

export const registration: readonly Failure[] = [
  nodeRoleNotMapped,
  apiServerUnreachable,
  kubeletNeverPostedStatus,
  serviceEndpointsUnreachable,
  undiagnosedTimeout,
  unregisteredTaintMissing,
];
