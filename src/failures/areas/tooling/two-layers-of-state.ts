// What makes a node join is spread over infrastructure code, AWS and Kubernetes; this tool is the answer to it.
import type { Failure } from '../../failure.ts';
import { never } from '../../needs.ts';

export const twoLayersOfState: Failure = {
  id: 'tooling/two-layers-of-state',
  severity: 'low',
  symptom: 'Hours are lost comparing Terraform state, IAM and cluster objects.',
  cause: 'The facts that make a node join are spread over infrastructure code, AWS and Kubernetes',
  fix: 'Let one tool read all layers: `kerf doctor --collect bundle.tgz` with credentials of the account.',
  needs: [
    never(
      'the state of the infrastructure code, which nothing here reads; the other checks compare AWS and Kubernetes',
    ),
  ],
};
