// Figures of registered nodes reach the list of types.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { label } from '../../api/index.ts';
import { imageFor } from '../../aws/images/images-for.ts';
import { type LiveWorld, liveWorld, named, readyClass } from '../../aws/instance-types/live-types.testing.ts';
import { type Bench, openBench } from '../../controllers/testing/bench.testing.ts';
import { resources } from '../../ports/index.ts';
import { discoveredMemoryController } from './discovered-memory.ts';

let bench: Bench;
let world: LiveWorld;
const nodeClass = readyClass();

beforeEach(async () => {
  world = await liveWorld();
  bench = await openBench({
    controllers: (context) => [
      discoveredMemoryController(context, {
        types: world.types,
        nodeClassOf: () => nodeClass,
        imageFor: ({ status }, type) => imageFor(type, status?.amis ?? [])?.id,
      }),
    ],
  });
  await bench.nodeClass();
});
afterEach(() => bench.close());

const memory = (): unknown => named(world.types.list(nodeClass), 'm5.large').capacity['memory'];
const estimate = '7577Mi';

const join = async (imageID: string, over: { registered?: string; type?: string } = {}): Promise<void> => {
  const labels = {
    [label.instanceType]: over.type ?? 'm5.large',
    [label.registered]: over.registered ?? 'true',
  };
  await bench.machine('default', 'a', {
    claim: { status: { imageID } },
    node: { metadata: { labels } },
    capacity: { cpu: '2', memory: '7900000Ki' },
  });
  await bench.run(1_000);
};

test('a registered node replaces the estimate, also when its image is not the first of the list', async () => {
  expect(memory()).toBe(estimate);
  await join('ami-amd64');
  expect(memory()).toBe(String(7_900_000 * 1024));
});

test('a node that runs another image than its class would boot today says nothing', async () => {
  await join('ami-of-yesterday');
  expect(memory()).toBe(estimate);
});

test('a node says nothing until it is registered', async () => {
  await join('ami-amd64', { registered: 'false' });
  expect(memory()).toBe(estimate);
  await bench.apply(resources.nodes, { metadata: { name: 'a', labels: { [label.registered]: 'true' } } });
  await bench.run(1_000);
  expect(memory()).toBe(String(7_900_000 * 1024));
});

test('a node of an unknown type is passed over', async () => {
  await join('ami-amd64', { type: 'x9.large' });
  expect(memory()).toBe(estimate);
});
