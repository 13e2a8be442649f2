import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { KubeError, type Pod, resources, type WatchEvent } from '../ports/index.ts';
import { keyOf, Reflector, type ReflectorOptions } from './index.ts';
import { podAt, ScriptedKube } from './scripted-kube.testing.ts';

const added = (name: string, version: number, uid?: string): WatchEvent<Pod> => ({
  type: 'ADDED',
  object: podAt(name, version, uid),
});
const modified = (name: string, version: number): WatchEvent<Pod> => ({
  type: 'MODIFIED',
  object: podAt(name, version),
});
const deleted = (name: string, version: number): WatchEvent<Pod> => ({ type: 'DELETED', object: podAt(name, version) });
const bookmark = (version: number, initialEventsEnd = false): WatchEvent<Pod> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd,
});
const failure = (status: number, reason: string, retryAfterSeconds?: number): KubeError =>
  new KubeError({
    status,
    reason,
    message: `fault ${reason}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

interface Bench {
  kube: ScriptedKube;
  clock: VirtualClock;
  reflector: Reflector<Pod>;
  heard: string[];
  waits: number[];
  stop(): Promise<void>;
}

function start(options: Partial<ReflectorOptions<Pod>> = {}, script: (kube: ScriptedKube) => void = () => {}): Bench {
  const kube = new ScriptedKube();
  script(kube);
  const clock = new VirtualClock({ settle });
  const waits: number[] = [];
  const reflector = new Reflector<Pod>({
    kube: kube.asKube(),
    clock,
    resource: resources.pods,
    random: () => 0.5,
    onFailure: (_error, retryInMs) => waits.push(retryInMs),
    ...options,
  });
  const heard: string[] = [];
  reflector.subscribe((change) => {
    const old = change.kind === 'updated' ? `${change.old.metadata.resourceVersion}->` : '';
    heard.push(`${change.kind} ${change.object.metadata.name}@${old}${change.object.metadata.resourceVersion}`);
  });
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  return { kube, clock, reflector, heard, waits, stop };
}

const namesIn = (reflector: Reflector<Pod>): string[] =>
  [...reflector.store.values()].map((pod) => `${keyOf(pod)}@${pod.metadata.resourceVersion}`).sort();

test('a streaming list fills the store in one step, at its end mark', async () => {
  const { kube, clock, reflector, heard, stop } = start();
  await clock.runFor(0);
  expect(kube.lastWatch.options.sendInitialEvents).toBe(true);
  kube.lastWatch.send(added('a', 3), added('b', 2));
  await clock.runFor(0);
  expect(reflector.store.size).toBe(0);
  expect(reflector.isSynced).toBe(false);
  kube.lastWatch.send(bookmark(5, true), modified('b', 6));
  await clock.runFor(0);
  expect(reflector.isSynced).toBe(true);
  expect(heard).toEqual(['added a@3', 'added b@2', 'updated b@2->6']);
  await stop();
});

test('where streaming lists are refused, pages are listed instead, and the watch starts where the list ended', async () => {
  const { kube, clock, reflector, stop } = start({}, (script) => {
    script.onWatch = (watch) => {
      if (watch.options.sendInitialEvents) throw failure(422, 'Invalid');
    };
    script.onList = (options) =>
      options.continue === undefined
        ? { items: [podAt('a', 1)], resourceVersion: '7', continue: 'next' }
        : { items: [podAt('b', 2)], resourceVersion: '7' };
  });
  await clock.runFor(0);
  expect(kube.lists.map((list) => [list.limit, list.continue])).toEqual([
    [500, undefined],
    [500, 'next'],
  ]);
  expect(namesIn(reflector)).toEqual(['default/a@1', 'default/b@2']);
  expect(kube.lastWatch.options.resourceVersion).toBe('7');
  await stop();
});

test('pages that expire while listing are replaced by one list of everything', async () => {
  const { kube, clock, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = (options) => {
      if (options.limit === undefined) return { items: [podAt('a', 1), podAt('b', 2)], resourceVersion: '9' };
      if (options.continue !== undefined) throw failure(410, 'Expired');
      return { items: [podAt('gone', 1)], resourceVersion: '7', continue: 'next' };
    };
  });
  await clock.runFor(0);
  expect(kube.lists.length).toBe(3);
  expect(namesIn(reflector)).toEqual(['default/a@1', 'default/b@2']);
  await stop();
});

test('a watch that the server ends is resumed at once from the last version, bookmarks included', async () => {
  const { kube, clock, heard, stop } = start({ streaming: false });
  await clock.runFor(0);
  kube.lastWatch.send(added('a', 2), bookmark(50));
  await clock.runFor(5_000);
  kube.lastWatch.end();
  await clock.runFor(0);
  expect(kube.watches.length).toBe(2);
  expect(kube.lastWatch.options.resourceVersion).toBe('50');
  expect(heard).toEqual(['added a@2']);
  await stop();
});

test('watches are asked to end after five to ten minutes', async () => {
  const { kube, clock, stop } = start({ streaming: false });
  await clock.runFor(0);
  expect(kube.lastWatch.options.timeoutSeconds).toBe(450);
  await stop();
});

test('a watch that ends as soon as it starts is not reopened in a storm', async () => {
  const { kube, clock, stop } = start({ streaming: false }, (script) => {
    script.onWatch = (watch) => watch.end();
  });
  await clock.runFor(60_000);
  expect(kube.watches.length).toBeLessThan(12);
  await stop();
});

test('an expired version leads to a new listing, and handlers hear only the difference', async () => {
  const { kube, clock, heard, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items: [podAt('a', 1), podAt('b', 1), podAt('c', 1)], resourceVersion: '5' });
  });
  await clock.runFor(0);
  heard.length = 0;
  kube.onList = () => ({ items: [podAt('b', 9), podAt('c', 1), podAt('d', 8)], resourceVersion: '12' });
  kube.lastWatch.fail(failure(410, 'Expired'));
  await clock.runFor(2_000);
  expect(heard).toEqual(['deleted a@1', 'updated b@1->9', 'added d@8']);
  expect(reflector.counters.expired).toBe(1);
  await stop();
});

test('a name that came back as another object between two watches is a deletion and an addition', async () => {
  const { kube, clock, heard, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items: [podAt('a', 1, 'first')], resourceVersion: '5' });
  });
  await clock.runFor(0);
  kube.onList = () => ({ items: [podAt('a', 9, 'second')], resourceVersion: '12' });
  kube.lastWatch.fail(failure(410, 'Expired'));
  await clock.runFor(2_000);
  expect(heard).toEqual(['added a@1', 'deleted a@1', 'added a@9']);
  await stop();
});

test('events at or before what was already seen are dropped', async () => {
  const { kube, clock, heard, reflector, stop } = start({ streaming: false });
  await clock.runFor(0);
  kube.lastWatch.send(added('a', 9), modified('a', 10), modified('a', 10), added('a', 9), deleted('a', 8), bookmark(3));
  await clock.runFor(2_000);
  kube.lastWatch.end();
  await clock.runFor(0);
  expect(heard).toEqual(['added a@9', 'updated a@9->10']);
  expect(reflector.counters.stale).toBe(3);
  expect(kube.lastWatch.options.resourceVersion).toBe('10');
  await stop();
});

test('a server whose history was set back, as by a restored backup, is listed anew', async () => {
  for (const sign of [modified('a', 40), bookmark(40)]) {
    const { kube, clock, reflector, stop } = start({ streaming: false }, (script) => {
      script.onList = () => ({ items: [podAt('a', 90)], resourceVersion: '100' });
    });
    await clock.runFor(0);
    kube.onList = () => ({ items: [podAt('b', 35)], resourceVersion: '40' });
    kube.lastWatch.send(sign);
    await clock.runFor(1_000);
    expect(namesIn(reflector)).toEqual(['default/b@35']);
    kube.lastWatch.send(modified('b', 41));
    await clock.runFor(0);
    expect(namesIn(reflector)).toEqual(['default/b@41']);
    await stop();
  }
});

test('after a lost connection the history is compared before a watch resumes: one that grew past ours again shows nothing', async () => {
  const { kube, clock, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items: [podAt('a', 90)], resourceVersion: '100' });
  });
  await clock.runFor(0);
  kube.onList = () => ({ items: [podAt('b', 35)], resourceVersion: '60' });
  kube.lastWatch.fail(new KubeError({ status: 0, reason: 'Transport', message: 'cut' }));
  await clock.runFor(1_000);
  expect(kube.lastWatch.options.resourceVersion).toBe('60');
  expect(namesIn(reflector)).toEqual(['default/b@35']);
  await stop();
});

test('versions that are not numbers are never compared', async () => {
  const { kube, clock, heard, stop } = start({ streaming: false });
  await clock.runFor(0);
  const event = (version: string): WatchEvent<Pod> => {
    const pod = podAt('a', 0);
    return { type: 'MODIFIED', object: { ...pod, metadata: { ...pod.metadata, resourceVersion: version } } };
  };
  kube.lastWatch.send(event('zz'), event('aa'));
  await clock.runFor(0);
  expect(heard).toEqual(['added a@zz', 'updated a@zz->aa']);
  await stop();
});

test('a connection that says nothing for 150 seconds is given up and the watch resumed', async () => {
  const { kube, clock, reflector, stop } = start({ streaming: false });
  await clock.runFor(0);
  await clock.runFor(100_000);
  kube.lastWatch.send(bookmark(20));
  await clock.runFor(149_000);
  expect(kube.watches.length).toBe(1);
  kube.onList = () => ({ items: [podAt('a', 20)], resourceVersion: '21' });
  await clock.runFor(2_000);
  expect(kube.watches.length).toBe(2);
  expect(kube.lastWatch.options.resourceVersion).toBe('20');
  expect(reflector.counters.failures).toBe(1);
  await stop();
});

test.each([true, false])('where watches stay silent, objects are listed instead (streaming: %s)', async (streaming) => {
  const { kube, clock, reflector, stop } = start({ streaming });
  await clock.runFor(0);
  if (streaming) kube.lastWatch.send(bookmark(5, true));
  await clock.runFor(0);
  kube.onList = () => ({ items: [podAt('a', 20)], resourceVersion: '21' });
  await clock.runFor(310_000);
  expect(reflector.store.get('default/a')?.metadata.resourceVersion).toBe('20');
  kube.onList = () => ({ items: [podAt('a', 30)], resourceVersion: '31' });
  await clock.runFor(160_000);
  expect(reflector.store.get('default/a')?.metadata.resourceVersion).toBe('30');
  await stop();
});

test('failures are retried ever more rarely, at most every 30 seconds, and start afresh after a healthy time', async () => {
  const { kube, clock, waits, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = () => {
      throw failure(500, 'InternalError');
    };
  });
  await clock.runFor(200_000);
  expect(waits.slice(0, 4)).toEqual([400, 700, 1_150, 1_825]);
  expect(waits.at(-1)).toBe(30_000);
  expect(reflector.lastFailure?.message).toBe('fault InternalError');
  kube.onList = () => ({ items: [], resourceVersion: '1' });
  await clock.runFor(60_000);
  expect(reflector.isSynced).toBe(true);
  expect(reflector.lastFailure).toBeUndefined();
  waits.length = 0;
  kube.lastWatch.fail(failure(0, 'Transport'));
  await clock.runFor(0);
  expect(waits).toEqual([400]);
  await stop();
});

test('a connection that is cut every few seconds is reopened soon each time', async () => {
  const { kube, clock, waits, stop } = start({ streaming: false });
  await clock.runFor(0);
  for (let cut = 1; cut <= 20; cut += 1) {
    await clock.runFor(3_000);
    kube.lastWatch.fail(failure(0, 'Transport'));
    await clock.runFor(0);
  }
  expect(new Set(waits)).toEqual(new Set([400]));
  expect(waits).toHaveLength(20);
  await stop();
});

test('a watch that ends in its own time makes earlier failures forgotten', async () => {
  const { kube, clock, waits, stop } = start({ streaming: false }, (script) => {
    script.onList = () => {
      throw failure(500, 'InternalError');
    };
  });
  await clock.runFor(200_000);
  kube.onList = () => ({ items: [], resourceVersion: '1' });
  await clock.runFor(60_000);
  kube.onWatch = () => {
    throw failure(500, 'InternalError');
  };
  waits.length = 0;
  kube.lastWatch.end();
  await clock.runFor(0);
  expect(waits).toEqual([400]);
  await stop();
});

test('the server is not asked again before its Retry-After', async () => {
  const { waits, clock, stop } = start({ streaming: false }, (script) => {
    script.onList = () => {
      throw failure(429, 'TooManyRequests', 17);
    };
  });
  await clock.runFor(0);
  expect(waits).toEqual([17_000]);
  await stop();
});

test('streaming lists that twice end before their end mark are not asked for again', async () => {
  const { kube, clock, reflector, stop } = start({}, (script) => {
    script.onWatch = (watch) => {
      if (watch.options.sendInitialEvents) watch.end();
    };
    script.onList = () => ({ items: [podAt('a', 1)], resourceVersion: '2' });
  });
  await clock.runFor(10_000);
  expect(kube.watches.filter(({ options }) => options.sendInitialEvents).length).toBe(2);
  expect(namesIn(reflector)).toEqual(['default/a@1']);
  await stop();
});

test('a handler that throws harms neither the store nor the other handlers', async () => {
  const { kube, clock, reflector, heard, stop } = start({ streaming: false });
  reflector.subscribe(() => {
    throw new Error('broken handler');
  });
  const second: string[] = [];
  reflector.subscribe((change) => second.push(change.kind));
  await clock.runFor(0);
  kube.lastWatch.send(added('a', 5));
  await clock.runFor(0);
  expect(heard).toEqual(['added a@5']);
  expect(second).toEqual(['added']);
  expect(reflector.counters.handlerFailures).toBe(1);
  await stop();
});

test('a late subscriber first hears of what is there', async () => {
  const { clock, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items: [podAt('a', 1), podAt('b', 1)], resourceVersion: '5' });
  });
  await clock.runFor(0);
  const late: string[] = [];
  const subscription = reflector.subscribe((change) => late.push(`${change.kind} ${change.object.metadata.name}`));
  expect(late).toEqual(['added a', 'added b']);
  subscription.dispose();
  await stop();
});

test('a first listing of many objects lets timers run in between, and tells a subscriber that joins then only once', async () => {
  const items = Array.from({ length: 5_000 }, (_, index) => podAt(`pod-${index}`, 1));
  const { clock, reflector, heard, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items, resourceVersion: '5' });
  });
  await settle();
  expect(heard.length).toBe(2_000);
  expect(reflector.isSynced).toBe(false);
  let joined = 0;
  reflector.subscribe(() => joined++);
  await clock.runFor(0);
  expect(heard.length).toBe(5_000);
  expect(joined).toBe(5_000);
  expect(reflector.isSynced).toBe(true);
  await stop();
});

test('objects are slimmed before they are kept, and filed in indexes that follow every change', async () => {
  const onNode = (name: string, version: number, nodeName?: string): Pod => ({
    ...podAt(name, version),
    spec: { containers: [{ name: 'main' }], ...(nodeName === undefined ? {} : { nodeName }) },
  });
  const { kube, clock, reflector, stop } = start(
    {
      streaming: false,
      transform: (pod) => ({ ...pod, spec: { ...pod.spec, containers: [] } }),
      indexers: { node: (pod) => pod.spec?.nodeName },
    },
    (script) => {
      script.onList = () => ({ items: [onNode('a', 1, 'n1'), onNode('b', 1)], resourceVersion: '5' });
    },
  );
  const onNodes = (): string[][] =>
    ['n1', 'n2'].map((node) =>
      [...reflector.store.filedUnder('node', node)].map(({ metadata }) => metadata.name ?? ''),
    );
  await clock.runFor(0);
  expect(reflector.store.get('default/a')?.spec?.containers).toEqual([]);
  expect(onNodes()).toEqual([['a'], []]);
  kube.lastWatch.send({ type: 'MODIFIED', object: onNode('b', 6, 'n1') });
  kube.lastWatch.send({ type: 'MODIFIED', object: onNode('a', 7, 'n2') });
  await clock.runFor(0);
  expect(onNodes()).toEqual([['b'], ['a']]);
  kube.lastWatch.send({ type: 'DELETED', object: onNode('a', 8, 'n2') });
  await clock.runFor(0);
  expect(onNodes()).toEqual([['b'], []]);
  await stop();
});

test('waiting for the first listing resolves when handlers have heard it', async () => {
  const { clock, reflector, heard, stop } = start({ streaming: false }, (script) => {
    script.onList = () => ({ items: [podAt('a', 1)], resourceVersion: '5' });
  });
  const atSync = reflector.whenSynced().then(() => heard.length);
  await clock.runFor(0);
  expect(await atSync).toBe(1);
  await reflector.whenSynced();
  await stop();
});

test('an optional resource that is not served counts as empty, until it is served', async () => {
  let isServed = false;
  const { kube, clock, reflector, heard, stop } = start({ streaming: false, optional: true }, (script) => {
    script.onList = () => {
      if (!isServed) throw failure(404, 'NotFound');
      return { items: [podAt('a', 1)], resourceVersion: '5' };
    };
  });
  await clock.runFor(0);
  expect([reflector.isSynced, reflector.store.size, reflector.lastFailure?.message]).toEqual([
    true,
    0,
    'fault NotFound',
  ]);
  isServed = true;
  await clock.runFor(30_000);
  expect(heard).toEqual(['added a@1']);
  isServed = false;
  kube.lastWatch.fail(failure(410, 'Expired'));
  await clock.runFor(30_000);
  expect(heard).toEqual(['added a@1', 'deleted a@1']);
  await stop();
});

test('a resource that is not optional is not synced while it is not served', async () => {
  const { clock, reflector, stop } = start({ streaming: false }, (script) => {
    script.onList = () => {
      throw failure(404, 'NotFound');
    };
  });
  await clock.runFor(600_000);
  expect(reflector.isSynced).toBe(false);
  await stop();
});

test('stopping ends the watch under way and leaves no timer behind', async () => {
  const { kube, clock, stop } = start();
  await clock.runFor(0);
  await stop();
  expect(kube.lastWatch.options.signal?.aborted).toBe(true);
  expect(clock.nextDueMs()).toBeUndefined();
});

test('a Retry-After of hours is obeyed for a minute', async () => {
  const { kube, clock, waits, stop } = start({}, (script) => {
    script.onWatch = () => {
      throw failure(503, 'ServiceUnavailable', 7_200);
    };
  });
  await clock.runFor(0);
  expect(waits).toEqual([60_000]);
  await clock.runFor(61_000);
  expect(waits.length).toBeGreaterThan(1);
  expect(kube.watches.length + kube.lists.length).toBeGreaterThan(1);
  await stop();
});

test('how long the server has been silent is known, whatever is tried meanwhile', async () => {
  const { kube, clock, reflector, stop } = start();
  await clock.runFor(0);
  kube.lastWatch.send(bookmark(5, true));
  await clock.runFor(0);
  expect(reflector.silentMs).toBe(0);
  await clock.runFor(100_000);
  expect(reflector.silentMs).toBe(100_000);
  const refuse = (): never => {
    throw failure(503, 'ServiceUnavailable');
  };
  [kube.onWatch, kube.onList] = [refuse, refuse];
  await clock.runFor(500_000);
  expect(reflector.silentMs).toBe(600_000);
  kube.onList = () => ({ items: [], resourceVersion: '6' });
  kube.onWatch = (watch) => watch.send(bookmark(7));
  await clock.runFor(60_000);
  expect(reflector.silentMs).toBeLessThan(60_000);
  await stop();
});
