// A line of cloud-init that looks like trouble and is none.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const nodeadmContentTypeWarning: Failure = {
  id: 'ami/nodeadm-content-type-warning',
  severity: 'low',
  symptom: 'The console shows `Unhandled unknown content-type (application/node.eks.aws) userdata`.',
  cause: 'cloud-init does not handle that part of the user data; nodeadm does. Harmless',
  fix: 'None; look elsewhere. A node that does not join for no visible reason most often has a role that the cluster does not know.',
  needs: [texts('node')],
  harmless: true,
  signs: [
    {
      words: ['application/node.eks.aws'],
      pattern:
        /Unhandled (?:unknown |non-multipart )?(?:\([^)]*\) )?content-type[^a-z]{0,4}\(?["']?application\/node\.eks\.aws|content-type["']? \(?application\/node\.eks\.aws\)? userdata|Unhandled.{0,40}application\/node\.eks\.aws/i,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'Harmless: cloud-init does not know this part of the user data, and does not have to; nodeadm reads it.',
      fix: [
        'Nothing to do. If the node does not join, look at the mapping of its role: aws eks list-access-entries --cluster-name "$CLUSTER_NAME"',
      ],
    }),
  ],
};
