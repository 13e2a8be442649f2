// What the controller tells readers that no object says: what it was set to, which pools it has paused, what it could not
// launch lately. It stands as annotations on its Lease, so that `kerf plan` and `kerf explain` decide as it does.
import { annotation } from '../api/index.ts';
import type { FailedOffering, PoolStateEntry, SnapshotSettings } from '../core/index.ts';
import { pausesOf } from '../state/index.ts';
import type { ControllerContext } from './context.ts';
import { snapshotSettings } from './planning.ts';

export interface PublishedSettings {
  provider: string;
  /** What decisions look at. */
  settings: SnapshotSettings;
  /** Where instance types come from, and how they are computed, as far as the provider can be set. */
  catalogue?: string;
  reservedEnis?: number;
  vmMemoryOverheadPercent?: number;
}

export interface PublishedState {
  poolState?: PoolStateEntry[];
  /** Offerings that failed alike, together: one launch tries hundreds. */
  failedOfferings?: FailedTogether[];
  /** Nodes, and claims without one yet, that pods are about to come to. */
  nominated?: string[];
  /** Of a cluster whose time is not ours: its time, when that was by our clock, and how fast it passes. */
  clock?: { time: string; realTime: string; speed: number };
}

export type FailedTogether = Omit<FailedOffering, 'instanceType'> & { instanceTypes: string[] };

/** About 100 KiB of names: annotations of all kinds may have 256 KiB together. */
const mostFailedOfferings = 5_000;
/** About 50 KiB of names. */
const mostNominated = 1_000;

export type AboutProvider = Omit<PublishedSettings, 'provider' | 'settings'>;

export function publishedAnnotations(
  { cluster, cloud, settings }: ControllerContext,
  about: AboutProvider = {},
  clock?: PublishedState['clock'],
): Record<string, string> {
  const published: PublishedSettings = { provider: cloud.name, settings: snapshotSettings(settings), ...about };
  const poolState = pausesOf(cluster);
  const failedOfferings = together(cloud.failedOfferings?.().slice(0, mostFailedOfferings) ?? []);
  const nominated = nominatedIn(cluster);
  const state: PublishedState = {
    ...(poolState.length === 0 ? {} : { poolState }),
    ...(failedOfferings.length === 0 ? {} : { failedOfferings }),
    ...(nominated.length === 0 ? {} : { nominated }),
    ...(clock === undefined ? {} : { clock }),
  };
  return {
    [annotation.controllerSettings]: JSON.stringify(published),
    [annotation.controllerState]: JSON.stringify(state),
  };
}

function nominatedIn(cluster: ControllerContext['cluster']): string[] {
  const names: string[] = [];
  for (const machine of cluster.machines.all()) {
    if (names.length === mostNominated) break;
    const name = machine.node?.metadata.name ?? machine.claim?.metadata.name;
    if (name !== undefined && cluster.isNominated(machine)) names.push(name);
  }
  return names.sort();
}

function together(failed: readonly FailedOffering[]): FailedTogether[] {
  const groups = new Map<string, FailedTogether>();
  for (const { instanceType, ...alike } of failed) {
    const key = JSON.stringify(Object.entries(alike).sort());
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { ...alike, instanceTypes: [instanceType] });
    else known.instanceTypes.push(instanceType);
  }
  return [...groups.values()];
}
