// The entries of tooling/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { expiredCredentials } from './expired-credentials.ts';
import { kubeconfigWrong } from './kubeconfig-wrong.ts';
import { noShellOnNode } from './no-shell-on-node.ts';
import { twoLayersOfState } from './two-layers-of-state.ts';

export const tooling: readonly Failure[] = [expiredCredentials, kubeconfigWrong, noShellOnNode, twoLayersOfState];
