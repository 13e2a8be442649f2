// A what-if on a compiled fleet must say what planning says about a snapshot in which those nodes are on their way out.
import { expect, test } from 'vitest';
import { raggedFleet } from '../../bench/workloads/fleets.ts';
import { seeded } from '../../bench/workloads/random.ts';
import { planSnapshot, Round } from '../../src/core/index.ts';

test.each(Array.from({ length: 25 }, (_, index) => index + 1))(
  'nodes gone in thought and nodes on their way out give the same answer (seed %i)',
  (seed) => {
    const random = seeded(seed);
    const snapshot = raggedFleet({ nodes: 14, podsPerNode: 12, fullness: [0.3, 0.98], seed, workloads: 20 });
    const round = Round.of(snapshot);
    for (let trial = 0; trial < 6; trial++) {
      const members = random.shuffled(round.fleet.members).slice(0, random.between(1, 6));
      const going = new Set(members.map((member) => member.name));
      const nodeState = round.fleet.members.map(({ name }) => ({
        node: name,
        nodeClaim: name,
        providerID: `test:///${name}`,
        initialized: true,
        markedForDeletion: going.has(name),
      }));
      const plan = planSnapshot({ ...snapshot, nodeState }, { improve: false });
      const simulation = round.whatIf.simulate(members, { sparesRestless: true });
      expect({
        newNodes: simulation.newNodes.map((newNode) => newNode.pods.length),
        failed: simulation.failed.length,
        destinations: simulation
          .placements()
          .map(({ name }) => name)
          .sort(),
      }).toEqual({
        newNodes: plan.newNodes.map(({ pods }) => pods.length),
        failed: plan.unschedulable.length,
        destinations: plan.existingNodes.map(({ name }) => name).sort(),
      });
    }
  },
);
