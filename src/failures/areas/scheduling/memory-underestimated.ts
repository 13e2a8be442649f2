// The allowance for the hypervisor is deliberately pessimistic: larger nodes than needed for memory-heavy pods.
import { controllerDeployments, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { mapAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { amountOf } from '../../pools.ts';

const usualOverhead = 0.075;
/** Below this the difference is the usual rounding of the allowance. */
const noticeable = 0.06;

export const memoryUnderestimated: Failure = {
  id: 'scheduling/memory-underestimated',
  severity: 'low',
  symptom: 'Larger instances than needed for memory-heavy pods.',
  cause:
    'The allowance VM_MEMORY_OVERHEAD_PERCENT is pessimistic, or was set too high, until a node of that type and image has been seen',
  fix: 'Tune the percentage with care.',
  needs: [kinds('Node', 'NodeClaim')],
  signs: [
    {
      words: ['vm_memory_overhead_percent', 'vmmemoryoverheadpercent', 'vm-memory-overhead-percent'],
      pattern:
        /vm[_-]?memory[_-]?overhead[_-]?percent["']?(?:[:= ]|value|,|")+\s*["']?(?<value>0?\.(?:0[89]|[1-9])\d*)/i,
      where: ['asked', 'cli'],
    },
    // At its default it is pessimistic for types that were not seen yet.
    {
      words: ['vm_memory_overhead_percent', 'vmmemoryoverheadpercent', 'vm-memory-overhead-percent'],
      pattern:
        /\b(?:although|even though|larger|bigger|oversized|too (?:big|large))\b.{0,300}vm[_-]?memory[_-]?overhead[_-]?percent|vm[_-]?memory[_-]?overhead[_-]?percent.{0,200}\b(?:larger|bigger|oversized|too (?:big|large))\b/i,
      unless: /too small|OOM|Insufficient memory/i,
      where: ['asked'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        caught(sightings, 'value') === undefined
          ? 'The share of memory that is set aside by VM_MEMORY_OVERHEAD_PERCENT is larger than what this type takes: it is a guess until a node of the type and image was seen.'
          : `VM_MEMORY_OVERHEAD_PERCENT of ${caught(sightings, 'value')} leaves more memory unused than machines take.`,
      fix: ['VM_MEMORY_OVERHEAD_PERCENT=0.075, the default; lower only as far as measured nodes allow'],
    }),
  ],
  check(evidence): Found[] {
    const { objects } = evidence;
    const high = controllerDeployments(evidence).filter(
      (deployment) => Number(settingOf(deployment, 'VM_MEMORY_OVERHEAD_PERCENT') ?? 0) > usualOverhead + 0.01,
    );
    if (high.length > 0)
      return [
        {
          confidence: 'certain',
          summary: `VM_MEMORY_OVERHEAD_PERCENT is above its default of ${usualOverhead}: nodes are bought larger than memory needs.`,
          objects: high.map(refOf),
          evidence: high.map((one) =>
            fieldItem(one, 'VM_MEMORY_OVERHEAD_PERCENT', settingOf(one, 'VM_MEMORY_OVERHEAD_PERCENT') ?? ''),
          ),
          fix: [
            `kubectl -n ${high[0]?.namespace} set env deployment/${high[0]?.name} VM_MEMORY_OVERHEAD_PERCENT=0.075`,
          ],
        },
      ];
    const larger = objects.of('NodeClaim').filter(({ object }) => {
      const planned = amountOf(mapAt(object, 'status', 'allocatable')['memory']);
      const node = objects.find('Node', textAt(object, 'status', 'nodeName'));
      const real = amountOf(mapAt(node?.object, 'status', 'allocatable')['memory']);
      return planned !== undefined && real !== undefined && planned > 0 && real / planned - 1 > noticeable;
    });
    if (larger.length === 0) return [];
    return [
      {
        confidence: 'possible',
        summary: `${larger.length === 1 ? 'A node has' : `${larger.length} nodes have`} more memory to give than was planned.`,
        objects: refsOf(larger.slice(0, 5)),
        evidence: larger
          .slice(0, 3)
          .map((claim) =>
            fieldItem(
              claim,
              'status.allocatable.memory',
              `${textAt(claim.object, 'status', 'allocatable', 'memory')} planned`,
            ),
          ),
        fix: ['Lower VM_MEMORY_OVERHEAD_PERCENT with care: too low launches nodes that are too small.'],
      },
    ];
  },
};
