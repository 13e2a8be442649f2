// Releases up to 0.37 checked their objects through admission webhooks. Where a registration outlives them, or nothing
// answers it, the API server refuses every write of these kinds: no NodeClaim is made.
import type { Evidence } from '../../evidence.ts';
import { releaseOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { allCaught, aroundOf, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import type { Stored } from '../../objects.ts';
import { stateOf, type TargetState } from './conversion.ts';

const isOurs = /^(?:validation|defaulting)\.webhook\.(?:[\w.]+\.)?karpenter\.(?:sh|k8s\.aws)$/;
const names = String.raw`(?<webhook>(?:validation|defaulting)\.webhook\.(?:[\w.]+\.)?karpenter\.(?:sh|k8s\.aws))`;

const configurations = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'] as const;

const says: Readonly<Partial<Record<TargetState, string>>> = {
  'no service': 'that Service does not exist',
  'no port': 'the Service does not have that port',
  'no endpoints': 'no pod is behind that Service',
};

export const admissionWebhookUnreachable: Failure = {
  id: 'crd/admission-webhook-unreachable',
  severity: 'critical',
  symptom:
    '`Internal error occurred: failed calling webhook "validation.webhook.karpenter.sh": failed to call webhook: Post "https://karpenter.karpenter.svc:8443/…": no service port 8443 found for service "karpenter"`; NodePools cannot be applied and no NodeClaim is made.',
  cause:
    'A registration of the admission webhooks of an older release is still in the cluster, and this installation does not run them: from 0.33 on they are off by default, from 1.1 on there are none',
  fix: 'Delete the registrations that are left over: `kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration -l app.kubernetes.io/name=karpenter`. Where the release still runs its webhooks, bring its pods back instead.',
  needs: [kinds(...configurations, 'Service')],
  signs: [
    {
      words: ['failed calling webhook'],
      pattern: new RegExp(
        `failed calling webhook "${names}".{0,300}?(?:service "[^"]+" not found|no service port|server rejected our request|could not find the requested resource|x509|no such host)`,
        'i',
      ),
      until: ['launched'],
    },
    // Reports that leave out the name of the webhook.
    {
      words: ['failed to call webhook'],
      pattern:
        /failed to call webhook: Post "?https:\/\/[\w-]+\.[\w-]+\.svc(?::\d+)?\/(?:validate|default)(?:-resource|\/config)?\/?karpenter\.(?:sh|k8s\.aws)/i,
      unless: /failed calling webhook/i,
      confidence: 'likely',
      until: ['launched', 'controllerStarted'],
    },
    // The controller may only be restarting, or be down for a reason of its own.
    {
      words: ['failed calling webhook'],
      pattern: new RegExp(`failed calling webhook "${names}"`, 'i'),
      unless:
        /service "[^"]+" not found|no service port|server rejected our request|requested resource|x509|no such host/i,
      confidence: 'likely',
      until: ['launched', 'controllerStarted'],
    },
  ],
  fromText(sightings, evidence) {
    const webhooks = allCaught(sightings, 'webhook');
    const why = aroundOf(
      sightings,
      /(service "[^"]+" not found|no service port \d+ found for service "[^"]+"|no endpoints available for service "[^"]+"|x509: [^";]{0,80}|context deadline exceeded|server rejected our request)/i,
    );
    return [
      foundIn(sightings, {
        summary: `The API server refuses objects of Karpenter: the admission webhook${webhooks.length === 0 ? '' : ` ${webhooks.join(', ')}`} does not answer${why === undefined ? '' : ` (${why})`}.`,
        fix: fixFor(evidence, webhooks.map(resourceOf)),
      }),
    ];
  },
  check(evidence): Found[] {
    const dead = configurations.flatMap((kind) =>
      evidence.objects.of(kind).flatMap((one) => targetsOf(one).flatMap((target) => deadTarget(one, target, evidence))),
    );
    if (dead.length === 0) return [];
    const stored = [...new Set(dead.map(({ configuration }) => configuration))];
    const [first] = dead;
    return [
      {
        confidence: dead.some(({ state }) => state !== 'no endpoints') ? 'certain' : 'likely',
        summary: `${stored.map(({ name }) => name).join(', ')}: the webhook is ${first?.target}, and ${says[first?.state ?? 'no service']}; the API server refuses every write that it should check.`,
        objects: refsOf(stored),
        evidence: dead.map(({ configuration, target, state }) =>
          fieldItem(configuration, 'webhooks[].clientConfig.service', `${target} (${says[state]})`),
        ),
        fix: fixFor(
          evidence,
          stored.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`),
        ),
      },
    ];
  },
  explains: ['scheduling/no-usable-nodepool', 'scheduling/launch-rejected-by-provider'],
};

interface Target {
  service: string;
  namespace: string;
  port: number;
}

/** Where the API server sends what must be checked; a webhook that may fail holds nothing back. */
function targetsOf({ object }: Stored): Target[] {
  return listAt(object, 'webhooks')
    .filter((one) => isOurs.test(textAt(one, 'name')) && textAt(one, 'failurePolicy') !== 'Ignore')
    .map((one) => mapAt(one, 'clientConfig', 'service'))
    .filter((service) => textAt(service, 'name') !== '')
    .map((service) => ({
      service: textAt(service, 'name'),
      namespace: textAt(service, 'namespace'),
      port: Number(textAt(service, 'port') || 443),
    }));
}

function deadTarget(
  configuration: Stored,
  target: Target,
  evidence: Evidence,
): { configuration: Stored; target: string; state: TargetState }[] {
  const state = stateOf(target, evidence);
  const text = `${target.namespace}/${target.service}:${target.port}`;
  return says[state] === undefined ? [] : [{ configuration, target: text, state }];
}

const resourceOf = (webhook: string): string =>
  `${webhook.startsWith('defaulting') ? 'mutatingwebhookconfiguration' : 'validatingwebhookconfiguration'} ${webhook}`;

function fixFor(evidence: Evidence, resources: readonly string[]): string[] {
  const release = releaseOf(evidence);
  const mayRun = release === undefined || release <= 100;
  return [
    'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations | grep karpenter',
    ...resources.map((one) => `kubectl delete ${one}`),
    ...(mayRun
      ? [
          'Keep them only where the release runs its webhooks (up to 1.0 with webhook.enabled=true): then its pods must be up, and the control plane must reach them on port 8443.',
        ]
      : []),
  ];
}
