// After the controller is gone its finalizer holds every node that is deleted, and no one is left to take it off.
import type { Evidence } from '../../evidence.ts';
import { named } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import type { Stored } from '../../objects.ts';
import { controllerState, deletedMsAgo, finalizer, leaving } from './leaving.ts';

/** Longer than a usual drain. */
const hangsAfterMs = 300_000;

export const finalizerAfterUninstall: Failure = {
  id: 'termination/finalizer-after-uninstall',
  severity: 'high',
  symptom: 'Nodes hang in deletion after the controller was uninstalled.',
  cause: `The finalizer \`${finalizer}\` is still on them, and the controller that would complete it is gone`,
  fix: 'Install the controller again and let it finish; or terminate the instance by hand and then remove only this finalizer by patch.',
  needs: [kinds('Node', 'NodeClaim', 'Deployment')],
  signs: [
    {
      words: ['uninstall', 'helm delete', 'helm del '],
      pattern:
        /helm (?:uninstall|delete|del) (?:-n \S+ |--namespace \S+ )?karpenter\b.{0,1500}(?:karpenter\.sh\/termination|deletionTimestamp|delete node.{0,200}(?:hang|stuck|\^C|timed out)|(?:stuck|hang\w*) .{0,40}(?:deleti|terminat))/i,
      confidence: 'likely',
      where: ['cli', 'asked'],
    },
    {
      words: ['finalizer'],
      pattern: /finalizers? (?:on|of) (?:the )?(?:nodes?|nodeclaims?)\b.{0,80}(?:never|not|hang|stuck|block)/i,
      beside: 'controllerUninstalled',
      confidence: 'likely',
      where: ['asked'],
    },
    {
      words: [finalizer],
      pattern: /finalizers\W{0,12}karpenter\.sh\/termination/i,
      beside: 'controllerUninstalled',
      confidence: 'likely',
      where: ['cli', 'asked'],
    },
    {
      words: [finalizer],
      // A finalizer beside a time of deletion, and nothing where the deployment was looked for.
      pattern:
        /karpenter\.sh\/termination["\]} ]{1,4} ?(?:deletionTimestamp\W{0,4})?\d{4}-\d\d-\d\dT[\d:]+Z.{0,200}get (?:deploy\w*|pods?|po)\b.{0,60}grep (?:-i )?karpenter ?\$|karpenter\.sh\/termination.{0,400}(?:uninstall|removed|No resources found in (?:karpenter|kerf)\b|deployments\.apps "(?:karpenter|kerf)" not found|no longer (?:runs|running|installed)|controller is gone)|(?:uninstalled|removed|deleted) karpenter.{0,400}karpenter\.sh\/termination/i,
      confidence: 'likely',
      where: ['cli', 'asked'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: `Nodes wait for the finalizer ${finalizer}, and the controller that completes it was uninstalled.`,
      fix: fixFor([]),
    }),
  ],
  check(evidence): Found[] {
    const state = controllerState(evidence);
    // A controller may run where no Deployment shows it, on a laptop or in the process of a simulated cluster: what it is
    // draining just now does not hang.
    const held = leaving(evidence).filter((one) => (deletedMsAgo(evidence, one) ?? hangsAfterMs) >= hangsAfterMs);
    if (held.length === 0 || (state !== 'gone' && state !== 'stopped')) return [];
    return [
      {
        confidence: 'certain',
        summary: `${named(held)} ${held.length === 1 ? 'hangs' : 'hang'} in deletion: ${finalizer} is on ${held.length === 1 ? 'it' : 'them'}, and ${state === 'gone' ? 'no controller is installed' : 'the controller has no replicas'}.`,
        objects: refsOf(held),
        evidence: [
          ...held
            .slice(0, 4)
            .map((one) =>
              fieldItem(
                one,
                'metadata.deletionTimestamp',
                `${textAt(one.object, 'metadata', 'deletionTimestamp')}, finalizer ${finalizer}`,
              ),
            ),
          absenceOf(evidence, state),
        ],
        fix: fixFor(held),
      },
    ];
  },
  explains: ['termination/drain-never-completes'],
};

function absenceOf({ objects }: Evidence, state: 'gone' | 'stopped'): { source: string; text: string } {
  const source = objects.of('Deployment')[0]?.source ?? 'objects';
  return {
    source,
    text:
      state === 'gone' ? 'no Deployment of the controller exists' : 'the Deployment of the controller has 0 replicas',
  };
}

function fixFor(held: readonly Stored[]): string[] {
  const [first] = held;
  const instance = /i-[0-9a-f]{8,17}/.exec(
    textAt(first?.object, 'spec', 'providerID') || textAt(first?.object, 'status', 'providerID'),
  )?.[0];
  return [
    'Safe: install the controller again (helm upgrade --install …) and let it finish the deletions.',
    `By hand, machine first: aws ec2 terminate-instances --instance-ids ${instance ?? '"$INSTANCE"'}`,
    `Then only this finalizer: kubectl patch ${(first?.kind ?? 'node').toLowerCase()} ${first?.name ?? '"$NODE"'} --type=json -p '[{"op":"remove","path":"/metadata/finalizers/${indexOf(first)}"}]' (its place in the list; never set finalizers to null: others' would go, and the machine would stay)`,
  ];
}

function indexOf(stored: Stored | undefined): number {
  const list = stored?.object['metadata'] as { finalizers?: string[] } | undefined;
  return Math.max(0, list?.finalizers?.indexOf(finalizer) ?? 0);
}
