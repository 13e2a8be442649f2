// A pod selects a label of its own that no pool declares, so no simulated node can have it.
import { isController, waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { allCaught, aroundOf, fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { isWellKnown, podDemands, requirementsOf, templateLabels } from '../../pools.ts';

export const labelWithoutKnownValues: Failure = {
  id: 'scheduling/label-without-known-values',
  severity: 'medium',
  symptom: 'A pod waits; the log says `incompatible requirements, label "role" does not have known values`.',
  cause: 'The pod selects a custom label that no pool declares',
  fix: 'Add the key to `spec.template.metadata.labels` (or a requirement) of the right pool, or correct the selector of the pod.',
  needs: [anyOf(texts('log'), kinds('Pod', 'NodePool'))],
  signs: [
    {
      words: ['does not have known values'],
      // Where another pool is asked for the same label and has other values, or is only full, that pool is the nearest miss.
      pattern:
        /label "(?<label>[^"]+)" does not have known values(?!.{0,2000}\bkey \k<label>,)(?<!\bkey \k<label>,.{0,2000})/i,
      // The controller's own pod is another failure.
      unless: /["'/ ](?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\b|instance types exceed (?:limits for|\w+ limits)/,
    },
  ],
  fromText(sightings) {
    const labels = allCaught(sightings, 'label');
    const pod = aroundOf(sightings, /Pod"?:? ?\{"name": ?"([^"]+)"/) ?? aroundOf(sightings, /pod"?: ?"([^"]+)"/);
    return [
      foundIn(sightings, {
        summary: `${pod === undefined ? 'A pod' : `Pod ${pod}`} selects the label ${labels.join(', ')}, which no NodePool declares.`,
        fix: labels.map(
          (label) =>
            `spec.template.metadata.labels of the NodePool that should serve it: {${label}: <the value that the pod selects>}; or correct the pod's nodeSelector or affinity`,
        ),
      }),
    ];
  },
  check(evidence): Found[] {
    const pools = evidence.objects.of('NodePool');
    if (pools.length === 0) return [];
    const declared = new Set(
      pools.flatMap((pool) => [
        ...Object.keys(templateLabels(pool)),
        ...requirementsOf(pool).map((one) => textAt(one, 'key')),
      ]),
    );
    const stuck = waitingPods(evidence).flatMap((pod) => {
      const keys = [...podDemands(pod).keys()].filter((key) => !isWellKnown(key) && !declared.has(key));
      return keys.length === 0 || isController(pod) ? [] : [{ pod, keys }];
    });
    if (stuck.length === 0) return [];
    const [first] = stuck;
    const key = first?.keys[0] ?? '';
    const value = first === undefined ? '' : (podDemands(first.pod).get(key)?.[0] ?? '');
    return [
      {
        confidence: 'certain',
        summary: `${first?.pod.name}${stuck.length > 1 ? ` and ${stuck.length - 1} more pods` : ''}: no NodePool declares the label ${key}, which they select.`,
        objects: refsOf(stuck.slice(0, 10).map(({ pod }) => pod)),
        evidence: stuck
          .slice(0, 3)
          .map(({ pod, keys }) => fieldItem(pod, 'node selector or affinity', keys.join(', '))),
        fix: [
          `kubectl patch nodepool ${pools[0]?.name} --type=merge -p '${JSON.stringify({ spec: { template: { metadata: { labels: { [key]: value } } } } })}'  # on the pool that should serve it; or correct the pod's selector`,
        ],
      },
    ];
  },
};
