// Resources that are not stored: questions about rights, and figures computed when asked for. They are listed like every
// other kind, so that clients find them; `http/computed-resources.ts` answers.
import type { ResourceDefinition } from '../definition.ts';
import { builtIn } from './built-in.ts';

const authorization = builtIn('authorization.k8s.io', 'v1', 'api.authorization.v1');

export const computedKinds: ResourceDefinition[] = [
  {
    ...authorization({ kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster: true }),
    verbs: ['create'],
  },
  {
    ...authorization({ kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster: true }),
    verbs: ['create'],
  },
  metrics('NodeMetrics', 'nodes', true),
  metrics('PodMetrics', 'pods', false),
];

/** Served by an aggregated server in real clusters; its schema is not part of the API's own. */
function metrics(kind: string, plural: string, cluster: boolean): ResourceDefinition {
  const { schema: _, ...definition } = builtIn(
    'metrics.k8s.io',
    'v1beta1',
    '',
  )({
    kind,
    plural,
    ...(cluster && { cluster }),
  });
  return { ...definition, verbs: ['get', 'list'] };
}
