// The entries of startup/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { clusterEndpointMissing } from './cluster-endpoint-missing.ts';
import { controllerOnManagedNode } from './controller-on-managed-node.ts';
import { controllerPodSelectorUnsatisfied } from './controller-pod-selector-unsatisfied.ts';
import { controllerStarved } from './controller-starved.ts';
import { crdMissingOrMismatched } from './crd-missing-or-mismatched.ts';
import { debugOutputMissing } from './debug-output-missing.ts';
import { kubernetesPermissionMissing } from './kubernetes-permission-missing.ts';
import { replicasExceedUnmanagedNodes } from './replicas-exceed-unmanaged-nodes.ts';
import { stsDnsTimeout } from './sts-dns-timeout.ts';
import { userPodOnSystemNode } from './user-pod-on-system-node.ts';

export const startup: readonly Failure[] = [
  clusterEndpointMissing,
  crdMissingOrMismatched,
  stsDnsTimeout,
  replicasExceedUnmanagedNodes,
  controllerPodSelectorUnsatisfied,
  controllerOnManagedNode,
  controllerStarved,
  userPodOnSystemNode,
  debugOutputMissing,
  kubernetesPermissionMissing,
];
