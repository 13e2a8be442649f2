// Public ECR needs no login, but refuses one that has expired.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

const refused = String.raw`(?:\b403\b|Forbidden|authorization token has expired|\bdenied\b)`;

export const registry403: Failure = {
  id: 'helm/registry-403',
  severity: 'low',
  symptom:
    'Helm or Docker gets 403 from `public.ecr.aws`, or `Your authorization token has expired. Reauthenticate and try again.`',
  cause: 'A stored login that has expired is sent to a registry that needs none',
  fix: '`docker logout public.ecr.aws`, or `helm registry logout public.ecr.aws`; then repeat.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['public.ecr.aws'],
      pattern: new RegExp(`public\\.ecr\\.aws.{0,240}${refused}|${refused}.{0,200}public\\.ecr\\.aws`, 'i'),
      // Nodes behind a firewall get 403 from its proxy, not from the registry.
      unless: /proxyconnect|x-amzn-waf|dkr\.ecr\./i,
      where: ['cli', 'asked'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'public.ecr.aws refuses a stored login that has expired; it needs no login at all.',
      fix: ['helm registry logout public.ecr.aws', 'docker logout public.ecr.aws'],
    }),
  ],
  explains: ['helm/chart-not-found-or-generic-error'],
};
