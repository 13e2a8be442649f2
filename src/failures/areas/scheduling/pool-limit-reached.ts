// The limit of a pool counts whole nodes, and the next one would pass it.
import { named, waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { mapAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { amountOf, couldServe } from '../../pools.ts';

/** Less than this is left: not even the smallest usual node fits. */
const smallest: Readonly<Record<string, number>> = { cpu: 2, memory: 2 * 1024 ** 3, nodes: 1 };

export const poolLimitReached: Failure = {
  id: 'scheduling/pool-limit-reached',
  severity: 'medium',
  symptom: 'Pods wait although everything matches; `all available instance types exceed limits for nodepool`.',
  cause:
    'The limit of the pool counts the whole capacity of nodes, not requests of pods, and the smallest candidate would pass it',
  fix: 'Raise `spec.limits`, or free nodes.',
  needs: [kinds('NodePool', 'Pod')],
  signs: [
    {
      words: [
        'exceed limits for',
        'exceed provisioner limits',
        'exceed nodepool limits',
        'limit exceeded',
        'limits exceeded',
        'resource usage of',
      ],
      pattern:
        /all available instance types exceed limits for (?:nodepool|provisioner):? ?["'\\]*(?<pool>[\w.-]+)?|all available instance types exceed (?:provisioner|nodepool) limits|(?:cpu|memory|nodes) resource usage of [\d.\w]+ exceeds limit of (?<limit>[\d.\w]+)|launching nodeclaim,? .{0,80}limits? exceeded/i,
      until: ['launched'],
    },
  ],
  fromText(sightings) {
    const pool = caught(sightings, 'pool') ?? 'default';
    return [
      foundIn(sightings, {
        summary: `NodePool ${pool} has reached its limit: the smallest node that fits would pass it.`,
        fix: [
          `kubectl get nodepool ${pool} -o jsonpath='{.spec.limits}{"\\n"}{.status.resources}'  # then raise: kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"limits":{"cpu":"2000"}}}'`,
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    const waiting = waitingPods(evidence);
    if (waiting.length === 0) return [];
    return evidence.objects.of('NodePool').flatMap((pool): Found[] => {
      const limits = mapAt(pool.object, 'spec', 'limits');
      const used = mapAt(pool.object, 'status', 'resources');
      const full = Object.keys(limits).filter((resource) => {
        const [limit, now] = [amountOf(limits[resource]), amountOf(used[resource])];
        return limit !== undefined && now !== undefined && limit - now < (smallest[resource] ?? 0);
      });
      const held = waiting.filter((pod) => couldServe(pool, pod));
      if (full.length === 0 || held.length === 0) return [];
      const detail = full
        .map((resource) => `${resource} ${textAt(used, resource)} of ${textAt(limits, resource)}`)
        .join(', ');
      return [
        {
          confidence: 'certain',
          summary: `NodePool ${pool.name} is at its limit (${detail}), and ${named(held)} ${held.length === 1 ? 'waits' : 'wait'}.`,
          objects: [refOf(pool), ...refsOf(held.slice(0, 5))],
          evidence: [fieldItem(pool, 'status.resources against spec.limits', detail)],
          fix: [
            `kubectl patch nodepool ${pool.name} --type=merge -p '${JSON.stringify({ spec: { limits: Object.fromEntries(full.map((resource) => [resource, doubled(textAt(limits, resource))])) } })}'`,
          ],
          key: pool.name,
        },
      ];
    });
  },
  explains: ['scheduling/no-instance-type-fits'],
};

const doubled = (text: string): string => text.replace(/^\d+/, (digits) => String(2 * Number(digits)));
