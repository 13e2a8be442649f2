// The same as scheduler-agreement.test.ts on many more scenarios.
import { expect, test } from 'vitest';
import { freshSeeds } from '../campaigns/seeds.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { AgreementRig, agreementControlPlane } from './scheduler-agreement/rig.ts';
import { scenarios } from './scheduler-agreement/scenarios.ts';

const cluster = useControlPlane(agreementControlPlane);
const seeds = freshSeeds('scheduler agreement', 16);

test.each(seeds)('kube-scheduler binds every pod of twenty planned scenarios (seed %i)', async (seed) => {
  const rig = new AgreementRig(cluster());
  await rig.clear();
  for (const { name, snapshot, plan } of scenarios(seed, 20)) {
    expect(await rig.disagreements(snapshot, plan), name).toEqual([]);
  }
});
