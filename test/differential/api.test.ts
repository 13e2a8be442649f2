// The embedded API and a real kube-apiserver answer the same interactions alike. Each interaction is a test; at the end
// the accepted differences that were met are printed with their reasons.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presentedKubernetes } from '../../src/sim/index.ts';
import { type ControlPlane, startControlPlane } from '../setup/control-plane.ts';
import { isOtherThan } from '../setup/kubernetes-release.ts';
import { accepted, comparable } from './compare.ts';
import { converse, type Server } from './exchange.ts';
import { interactions } from './interactions/index.ts';
import { type EmbeddedServer, embeddedServer, makeNamespace, realServer } from './servers.ts';

/** Fields and words differ from release to release. */
const isOtherRelease = isOtherThan(presentedKubernetes.minor, 'the embedded API presents itself as that release');

/** Only what belongs to the API itself: workload controllers would change objects while they are compared. */
const controllers = ['garbage-collector-controller', 'namespace-controller', 'serviceaccount-controller'];

let plane: ControlPlane;
let real: Server;
let embedded: EmbeddedServer;
const used = new Set<string>();

beforeAll(async () => {
  plane = await startControlPlane({
    controllerManager: true,
    controllerManagerFlags: [`--controllers=${controllers.join(',')}`],
  });
  real = realServer(plane);
  embedded = await embeddedServer();
});

afterAll(async () => {
  await embedded?.stop();
  await plane?.stop();
  console.log(`accepted differences:\n${accepted.map(({ reason }) => `- ${reason}`).join('\n')}`);
});

test('there are enough interactions to mean something, each with its own name', () => {
  expect(interactions.length).toBeGreaterThanOrEqual(150);
  expect(new Set(interactions.map(({ name }) => name)).size).toBe(interactions.length);
});

describe.skipIf(isOtherRelease).concurrent('the embedded API answers like the real one', { timeout: 60_000 }, () => {
  test.for(interactions.map((interaction, index) => ({ ...interaction, index })))(
    '$name',
    async (interaction, context) => {
      const namespace = `diff-${interaction.index}`;
      await Promise.all([makeNamespace(embedded, namespace), makeNamespace(real, namespace)]);
      const [ours, theirs] = await Promise.all([
        converse(embedded, interaction, namespace),
        converse(real, interaction, namespace),
      ]);
      context
        .expect(ours.map((answer) => comparable(answer, used)))
        .toEqual(theirs.map((answer) => comparable(answer, used)));
    },
  );
});

test.skipIf(isOtherRelease)('every accepted difference is one that was met', () => {
  expect(accepted.map(({ reason }) => reason).filter((reason) => !used.has(reason))).toEqual([]);
});
