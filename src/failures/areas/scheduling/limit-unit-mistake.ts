// 1000m is one CPU, not a thousand.
import type { Failure, Found } from '../../failure.ts';
import { mapAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { amountOf } from '../../pools.ts';

/** The smallest useful node: two CPUs and half a GiB. */
const leastCpu = 2;
const leastMemory = 512 * 1024 ** 2;

export const limitUnitMistake: Failure = {
  id: 'scheduling/limit-unit-mistake',
  severity: 'high',
  symptom: 'The pool never launches a node.',
  cause: 'The limit of the pool is smaller than any node: millicores were taken for cores, or bytes for GiB',
  fix: '`cpu: "1000"`, quoted.',
  needs: [anyOf(kinds('NodePool'), texts('cli'))],
  signs: [
    {
      words: ['limits:', '"limits"'],
      pattern:
        /limits["']?: ?\{? ?["']?cpu["']?: ?["']?(?<cpu>\d{3,}m)\b["']?,?.{0,6}["']?memory["']?: ?["']?\d{3,}Gi/i,
      where: ['asked', 'cli'],
    },
    {
      // Directly below spec, or before the template, only a NodePool has limits.
      words: ['limits:', '"limits"'],
      pattern:
        /\bspec["']?: ?\{? ?["']?limits["']?: ?\{? ?["']?cpu["']?: ?["']?(?<cpu>\d{3,}m)\b|limits["']?: ?\{? ?["']?cpu["']?: ?["']?(?<cpu2>\d{3,}m)["']?,?(?: ?["']?memory["']?: ?["']?\w+["']?)? ?\}?,? ?["']?(?:template|weight)["']?:/i,
      where: ['asked', 'cli'],
    },
  ],
  fromText(sightings) {
    const cpu = caught(sightings, 'cpu') ?? caught(sightings, 'cpu2') ?? '1000m';
    return [
      foundIn(sightings, {
        summary: `The pool's limit cpu: ${cpu} is ${Number.parseInt(cpu, 10) / 1000} CPU: not one node fits.`,
        fix: [`spec.limits.cpu: "${Number.parseInt(cpu, 10)}"`],
      }),
    ];
  },
  check({ objects }): Found[] {
    return objects.of('NodePool').flatMap((pool): Found[] => {
      const limits = mapAt(pool.object, 'spec', 'limits');
      const [cpu, memory] = [amountOf(limits['cpu']), amountOf(limits['memory'])];
      const text = textAt(limits, 'cpu');
      // Zero is how a pool is closed on purpose.
      const isCpu = cpu !== undefined && cpu > 0 && cpu < leastCpu;
      const isMemory = memory !== undefined && memory > 0 && memory < leastMemory;
      if (!isCpu && !isMemory) return [];
      const fixed =
        isCpu && text.endsWith('m')
          ? { cpu: text.slice(0, -1) }
          : isCpu
            ? { cpu: '1000' }
            : { memory: `${textAt(limits, 'memory').replace(/\D+$/, '')}Gi` };
      return [
        {
          confidence: 'certain',
          summary: `The limit of NodePool ${pool.name} (${isCpu ? `cpu: ${text} is ${cpu} CPU` : `memory: ${textAt(limits, 'memory')}`}) is smaller than any node, so it never launches one.`,
          objects: [refOf(pool)],
          evidence: [fieldItem(pool, 'spec.limits', JSON.stringify(limits))],
          fix: [`kubectl patch nodepool ${pool.name} --type=merge -p '${JSON.stringify({ spec: { limits: fixed } })}'`],
          key: pool.name,
        },
      ];
    });
  },
  explains: ['scheduling/pool-limit-reached', 'scheduling/no-instance-type-fits'],
};
