// An EC2NodeClass for tests: valid, of family AL2023, with everything selected by a tag.
import type { EC2NodeClass } from '../api/index.ts';

export function nodeClass(
  spec: Partial<EC2NodeClass['spec']> = {},
  rest: { metadata?: Partial<EC2NodeClass['metadata']>; status?: EC2NodeClass['status'] } = {},
): EC2NodeClass {
  return {
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: {
      name: 'default',
      uid: 'uid-default',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...rest.metadata,
    },
    spec: {
      role: 'node-role',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [{ tags: { team: 'a' } }],
      securityGroupSelectorTerms: [{ tags: { team: 'a' } }],
      ...spec,
    },
    ...(rest.status === undefined ? {} : { status: rest.status }),
  };
}
