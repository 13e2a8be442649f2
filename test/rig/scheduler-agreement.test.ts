// Plans carried out on a real kube-scheduler: planned nodes become Node objects, planned pods are created, and every one
// of them has to be bound.
import { expect, test } from 'vitest';
import { diverse, synthetic } from '../../bench/workloads/snapshots.ts';
import { planSnapshot } from '../../src/core/index.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { AgreementRig, agreementControlPlane } from './scheduler-agreement/rig.ts';
import { scenarios } from './scheduler-agreement/scenarios.ts';

const cluster = useControlPlane(agreementControlPlane);

test.each([1001, 1002, 1003, 1004, 1005, 1006])(
  'kube-scheduler binds every pod of ten planned scenarios (seed %i)',
  async (seed) => {
    const rig = new AgreementRig(cluster());
    await rig.clear();
    for (const { name, snapshot, plan } of scenarios(seed, 10)) {
      expect(await rig.disagreements(snapshot, plan), name).toEqual([]);
    }
  },
);

test('a plan that puts anti-affine pods together is found out', async () => {
  const rig = new AgreementRig(cluster());
  await rig.clear();
  const snapshot = diverse(10, synthetic(32));
  const plan = planSnapshot(snapshot);
  const [first, ...others] = plan.newNodes;
  if (first === undefined || others.length === 0) throw new Error('the workload needs at least two nodes');
  // The largest type has room for all of them, so that only the anti-affinity speaks against it.
  const chosen = { ...first.chosen, instanceType: 'fake-it-31' };
  const together = { ...first, chosen, pods: plan.newNodes.flatMap(({ pods }) => pods) };
  const unbound = await rig.disagreements(snapshot, { ...plan, newNodes: [together] }, 3000);
  expect(unbound.join('\n')).toMatch(/apart-\d+ was not bound: .*anti-affinity/);
});
