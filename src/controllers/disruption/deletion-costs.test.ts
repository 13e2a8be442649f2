import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import type { Pod } from '../../ports/index.ts';
import { Cluster } from '../../state/index.ts';
import { recordedLog } from '../testing/records.testing.ts';
import { DeletionCosts } from './deletion-costs.ts';

test('a deletion cost that cannot be read is logged once, and again when it was changed to another', () => {
  const cluster = new Cluster(new VirtualClock({ settle: async () => {} }));
  const log = recordedLog();
  const costs = new DeletionCosts();
  const setCost = (name: string, cost: string): void =>
    cluster.setPod({
      metadata: {
        name,
        namespace: 'shop',
        uid: name,
        annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost },
      },
      spec: {},
    } as unknown as Pod);
  setCost('web', 'cheap');
  setCost('api', '-10');
  for (let round = 0; round < 2; round++)
    costs.tellUnreadable({ cluster, log, settings: { featureGates: {} } as never });
  expect(log.lines).toHaveLength(1);
  expect(log.lines[0]).toMatchObject({
    message: 'ignoring pod deletion cost',
    error: 'controller.kubernetes.io/pod-deletion-cost must be a whole number of 32 bits such as -10, not "cheap"',
    fields: { Pod: { name: 'web', namespace: 'shop' } },
  });
  setCost('web', '1.5');
  costs.tellUnreadable({ cluster, log, settings: { featureGates: {} } as never });
  expect(log.lines).toHaveLength(2);
});
