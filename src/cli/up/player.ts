// The player of the embedded cluster: speed, pause, faults, load, manifests. Every act is a mark among the decisions, so that what
// follows can be seen to follow from it.
import { type KwokFaults, label } from '../../api/index.ts';
import { type Clock, messageOf } from '../../base/index.ts';
import { type Kube, resources } from '../../ports/index.ts';
import { type AnswerParts, ApiError, type PlayerState } from '../../server/index.ts';
import { kwokNodeClasses } from '../../sim/index.ts';
import type { DecisionRing } from '../../telemetry/index.ts';
import { momentOf } from '../replay/recorded-view.ts';
import { applyManifests } from './apply-manifests.ts';
import type { Past } from './past.ts';
import type { ScaledClock } from './scaled-clock.ts';
import { type Scenes, StoryTeller, stories } from './stories.ts';

export interface PlayerOptions {
  kube: Kube;
  clock: ScaledClock;
  /** Paces stories. */
  real: Clock;
  decisions: DecisionRing;
  past: Past;
  info(): AnswerParts['info'];
  /** Faults begin at once, also for the machines that are there. */
  strike(faults: KwokFaults): Promise<void>;
  /** Resolves once what was under way has come to rest and readers know about the new pace. */
  rest(): Promise<void>;
}

const nodeClass = { name: 'default' };
const fastest = 600;
const mostReplicas = 5_000;

/** What each fault of the player is in the node class; a zone is chosen where one is needed. */
const faultsNamed: Readonly<Record<string, (zone: string) => KwokFaults>> = {
  'zone out': (zone) => ({ insufficientCapacity: [{ zones: [zone] }], vanish: [{ zones: [zone] }] }),
  'spot taken': () => ({ interruption: [{ percent: 20, after: '0s', notice: '2m' }] }),
  'launches fail': () => ({ insufficientCapacity: [{}] }),
  'nodes ill': () => ({ notReady: [{ percent: 20, after: '1m' }] }),
  throttle: () => ({ throttling: { percent: 60 } }),
  'never join': () => ({ registration: {} }),
};

export function upPlayer({ kube, clock, real, decisions, past, info, strike, rest }: PlayerOptions): PlayerState {
  const active = new Set<string>();
  const state = () => ({
    speed: clock.speed,
    paused: clock.paused,
    faults: [...active],
    ...past.bounds(),
    ...(teller.now !== undefined && { story: teller.now }),
  });
  const mark = (message: string): void => {
    decisions.add({ what: 'config', objects: [], reasons: [{ code: 'Player', message }] });
  };

  const teller = new StoryTeller(real, mark);

  /** The zone that is lost stays the same for as long as a fault lasts. */
  let zone = '';
  const zoneOfNodes = async (): Promise<string> => {
    const { items } = await kube.list(resources.nodes);
    const zones = items.map(({ metadata }) => metadata.labels?.[label.zone] ?? '').filter((each) => each !== '');
    return zones.sort()[0] ?? 'us-east-1a';
  };
  const setFaults = async (): Promise<void> => {
    // A merge patch keeps what it does not name: what was there before goes first.
    await kube.patch(kwokNodeClasses, nodeClass, { type: 'merge', body: { spec: { faults: null } } });
    if (active.size === 0) return;
    const body = { spec: { faults: together([...active].map((name) => faultsNamed[name]?.(zone) ?? {})) } };
    await kube.patch(kwokNodeClasses, nodeClass, { type: 'merge', body });
  };

  const scale = async (workload: string, replicas: number): Promise<void> => {
    const [namespace = '', name = ''] = workload.split('/');
    try {
      const body = { spec: { replicas } };
      await kube.patch(resources.deployments, { name, namespace }, { type: 'merge', body });
    } catch (error) {
      throw new ApiError(404, 'NotFound', `cannot scale ${workload}: ${messageOf(error)}`, 'name a Deployment');
    }
  };

  const setFault = async (fault: string, on: boolean): Promise<void> => {
    const begins = on && !active.has(fault);
    if (active.size === 0) zone = await zoneOfNodes();
    if (on) active.add(fault);
    else active.delete(fault);
    await setFaults();
    if (begins) await strike(faultsNamed[fault]?.(zone) ?? {});
  };
  const scenes: Scenes = {
    kube,
    fault: setFault,
    async speed(factor) {
      clock.setSpeed(factor);
      clock.setPaused(false);
      await rest();
    },
    async scale(workload, factor) {
      const [namespace = '', name = ''] = workload.split('/');
      const { spec } = await kube.get(resources.deployments, { name, namespace });
      const count = spec?.replicas ?? 0;
      await scale(workload, Math.min(mostReplicas, Math.max(1, Math.round(count * factor))));
      return count;
    },
    replicas: scale,
  };

  return {
    state,
    async act(order) {
      const given = (typeof order === 'object' && order !== null ? order : {}) as Record<string, unknown>;
      const { speed, paused, fault, on, workload, replicas, seek, story, manifests } = given;
      if (story === null) await teller.end();
      else if (story !== undefined) await teller.start(storyNamed(story), scenes);
      if (seek === null) await past.now();
      else if (seek !== undefined) await past.seek(momentOf(seek), info(), decisions);
      if (speed !== undefined) {
        const wanted = Number(speed);
        if (!(wanted > 0 && wanted <= fastest)) {
          throw new ApiError(400, 'BadRequest', `speed ${String(speed)} is not possible`, `write 1 to ${fastest}`);
        }
        clock.setSpeed(wanted);
        mark(`speed ${wanted}×`);
        await rest();
      }
      if (typeof paused === 'boolean') {
        clock.setPaused(paused);
        mark(paused ? 'paused' : 'goes on');
        await rest();
      }
      if (typeof fault === 'string') {
        if (!Object.hasOwn(faultsNamed, fault)) {
          const names = Object.keys(faultsNamed).join(', ');
          throw new ApiError(400, 'BadRequest', `there is no fault ${fault}`, `one of ${names}`);
        }
        await setFault(fault, on !== false);
        mark(`fault ${fault}: ${on === false ? 'off' : 'on'}`);
      }
      if (typeof workload === 'string') {
        const count = Number(replicas);
        if (!Number.isInteger(count) || count < 0 || count > mostReplicas) {
          throw new ApiError(400, 'BadRequest', 'replicas is not a whole number', `write 0 to ${mostReplicas}`);
        }
        await scale(workload, count);
        mark(`${workload} scaled to ${count}`);
      }
      if (typeof manifests === 'string') {
        for (const written of await applyManifests(kube, manifests)) mark(written);
      }
      return { apiVersion: 'kerf/v1', kind: 'Player', ...state() };
    },
  };
}

function storyNamed(given: unknown): string {
  if (typeof given === 'string' && Object.hasOwn(stories, given)) return given;
  const names = Object.keys(stories).join(', ');
  throw new ApiError(400, 'BadRequest', `there is no story ${String(given)}`, `one of ${names}`);
}

function together(all: readonly KwokFaults[]): KwokFaults {
  const faults: Record<string, unknown> = {};
  for (const [key, value] of all.flatMap((each) => Object.entries(each))) {
    const known = faults[key];
    faults[key] =
      Array.isArray(known) && Array.isArray(value) ? [...(known as unknown[]), ...(value as unknown[])] : value;
  }
  return faults;
}
