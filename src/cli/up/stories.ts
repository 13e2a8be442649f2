// Stories of the player: about a minute each, four captions, each with what is done at that moment. A newcomer clicks one and
// sees what a burst, a lost zone or a bad image does, and what Kerf does about it. What a story changed it puts back.
import type { Clock } from '../../base/index.ts';
import { isKubeError, type Kube, resources } from '../../ports/index.ts';

/** What a story may do. */
export interface Scenes {
  kube: Kube;
  fault(name: string, on: boolean): Promise<void>;
  speed(factor: number): Promise<void>;
  /** Replicas as a factor of what there are; the result is what there were. */
  scale(workload: string, factor: number): Promise<number>;
  replicas(workload: string, count: number): Promise<void>;
}

type Act = (scenes: Scenes) => Promise<unknown>;

interface Step {
  /** After the step before, in the viewer's seconds. */
  afterSeconds: number;
  caption: string;
  act?: Act;
}

const guard = { name: 'never-yields', namespace: 'batch' };
const quick = 10;

const scaled =
  (workload: string, factor: number): Act =>
  (scenes) =>
    scenes.scale(workload, factor);
const fault =
  (name: string, on: boolean): Act =>
  (scenes) =>
    scenes.fault(name, on);
const together =
  (...acts: Act[]): Act =>
  async (scenes) => {
    for (const act of acts) await act(scenes);
  };

export const stories: Readonly<Record<string, readonly Step[]>> = {
  burst: [
    {
      afterSeconds: 0,
      caption: 'shop/web gets five times the load: its new pods fit on no node, and wait.',
      act: scaled('shop/web', 5),
    },
    {
      afterSeconds: 12,
      caption: 'One pass plans for all of them: the cheapest nodes that fit every constraint are launched (dashed).',
    },
    {
      afterSeconds: 16,
      caption: 'Nodes join, kube-scheduler places the pods. Decisions say what was chosen, and instead of what.',
    },
    {
      afterSeconds: 16,
      caption: 'The load is gone again. Nodes that are empty, or could be cheaper, go: watch the bar above.',
      act: scaled('shop/web', 0.2),
    },
  ],
  'lost zone': [
    {
      afterSeconds: 0,
      caption: 'A zone is lost: its nodes vanish, and nothing can be launched there.',
      act: fault('zone out', true),
    },
    { afterSeconds: 14, caption: 'Their pods wait. Those that may run in another zone get nodes there.' },
    {
      afterSeconds: 16,
      caption: 'Pods that must be spread evenly may find no place: Waiting says which rule, and what to change.',
    },
    {
      afterSeconds: 16,
      caption: 'The zone is back. The next pass uses it again, by itself.',
      act: fault('zone out', false),
    },
  ],
  'bad image': [
    {
      afterSeconds: 0,
      caption: 'From now on every new node has a bad image: it is launched, paid for, and never joins.',
      act: together(fault('never join', true), (scenes) => scenes.speed(60)),
    },
    {
      afterSeconds: 4,
      caption: 'Load comes. Its nodes stay dashed: instances run, no Node appears.',
      act: scaled('batch/worker', 3),
    },
    {
      afterSeconds: 22,
      caption: 'After 15 minutes each is taken back, and launches pause, longer and longer, instead of buying more.',
    },
    {
      afterSeconds: 16,
      caption: 'The image is fixed. The pause ends, and nodes join; Doctor names the failure.',
      act: fault('never join', false),
    },
  ],
  'night shift': [
    {
      afterSeconds: 0,
      caption: 'Night: most of the load goes. Nodes are half empty, and still paid for.',
      act: together(scaled('shop/web', 0.25), scaled('shop/checkout', 0.25), scaled('batch/worker', 0.25)),
    },
    { afterSeconds: 14, caption: 'Nodes settle first (◔): the room that pods just left may be needed again.' },
    {
      afterSeconds: 16,
      caption: 'Then each goes whose pods have a proven place elsewhere, a few at a time, as budgets allow.',
    },
    { afterSeconds: 16, caption: 'Dollars an hour fell with the load. Then morning comes, and the load with it.' },
  ],
  'PDB that never yields': [
    {
      afterSeconds: 0,
      caption: 'A PodDisruptionBudget for batch/worker allows no disruption at all, and the load falls.',
      act: together(createGuard, scaled('batch/worker', 0.4)),
    },
    { afterSeconds: 18, caption: 'Nodes with these pods stay, marked ■: the bar shows what that costs. Click one.' },
    {
      afterSeconds: 16,
      caption: 'Cost lists what a person could free, and what to change: here, the PodDisruptionBudget.',
    },
    { afterSeconds: 12, caption: 'The PodDisruptionBudget is deleted. Now the nodes may go.', act: deleteGuard },
  ],
};

async function createGuard({ kube }: Scenes): Promise<void> {
  const object = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: guard,
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'worker' } } },
  };
  await kube.create(resources.podDisruptionBudgets, object).catch((error: unknown) => {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  });
}

async function deleteGuard({ kube }: Scenes): Promise<void> {
  await kube.delete(resources.podDisruptionBudgets, guard).catch((error: unknown) => {
    if (!isKubeError(error, 'NotFound')) throw error;
  });
}

/** The end of the last caption, before everything is put back. */
const lastSeconds = 14;

export interface StoryNow {
  name: string;
  caption: string;
  step: number;
  steps: number;
}

export class StoryTeller {
  now: StoryNow | undefined;
  private readonly real: Clock;
  private readonly mark: (message: string) => void;
  private ending: AbortController | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(real: Clock, mark: (message: string) => void) {
    this.real = real;
    this.mark = mark;
  }

  /** Ends the one before; resolves once the first step is done. */
  async start(name: string, scenes: Scenes): Promise<void> {
    await this.end();
    const steps = stories[name] ?? [];
    const ending = new AbortController();
    this.ending = ending;
    await scenes.speed(quick);
    const first = Promise.withResolvers<void>();
    this.running = this.play(name, steps, scenes, ending.signal, first).finally(() => {
      if (this.ending === ending) this.now = undefined;
    });
    this.running.catch(first.reject);
    await first.promise;
  }

  async end(): Promise<void> {
    this.ending?.abort();
    await this.running.catch(() => undefined);
    this.now = undefined;
  }

  private async play(
    name: string,
    steps: readonly Step[],
    given: Scenes,
    signal: AbortSignal,
    first: { resolve(): void },
  ): Promise<void> {
    const before = new Map<string, number>();
    const faults = new Set<string>();
    // What is changed is noted on the way, so that it can be put back whenever the story ends.
    const scenes: Scenes = {
      ...given,
      async fault(named, on) {
        faults.add(named);
        await given.fault(named, on);
      },
      async scale(workload, factor) {
        const count = await given.scale(workload, factor);
        if (!before.has(workload)) before.set(workload, count);
        return count;
      },
    };
    try {
      for (const [at, { afterSeconds, caption, act }] of steps.entries()) {
        if (afterSeconds > 0) await this.real.sleep(afterSeconds * 1000, signal).catch(() => undefined);
        if (signal.aborted) return;
        await act?.(scenes);
        this.now = { name, caption, step: at + 1, steps: steps.length };
        this.mark(`story ${name}: ${caption}`);
        first.resolve();
      }
      await this.real.sleep(lastSeconds * 1000, signal).catch(() => undefined);
    } finally {
      for (const named of faults) await given.fault(named, false);
      for (const [workload, count] of before) await given.replicas(workload, count);
      await deleteGuard(given);
      await given.speed(1);
    }
  }
}
