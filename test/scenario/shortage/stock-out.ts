// A stock-out in virtual time: everything is sold out while pods wait, and then it is not. Counts what it cost.
import { vi } from 'vitest';
import { label } from '../../../src/api/index.ts';
import type { InstanceTypeSpec, LaunchOption } from '../../../src/core/index.ts';
import { Faults } from '../../../src/sim/cloud/faults.ts';
import { genericCatalogue, kwokNodeClasses } from '../../../src/sim/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

export const minuteMs = 60_000;

export interface StockOut {
  pods: number;
  lastsMs: number;
  /** What each pod asks for. */
  cpu: string;
  catalogue: readonly InstanceTypeSpec[];
}

export interface Costs {
  /** The most failed calls for one offering within any minute, once it has failed five times. */
  worstMinuteAfterFive: number;
  /** The same, five minutes after the stock-out began. */
  worstMinuteLater: number;
  /** Claims that became no node. */
  needless: number;
  nodes: number;
  /** From the end of the stock-out until all pods ran. */
  placedMs: number;
  /** Nodes and claims five minutes later. */
  left: { nodes: number; claims: number };
  podEvents: string[];
}

/** Types of 4 and 8 CPUs: a pod that asks for 5 has a node of its own. */
export const smallTypes = (): InstanceTypeSpec[] =>
  genericCatalogue().filter(({ name }) => /^[cm]-[48]x-amd64-linux$/.test(name));

export async function playStockOut({ pods, lastsMs, cpu, catalogue }: StockOut): Promise<Costs> {
  let created = 0;
  const failures = new Map<string, number[]>();
  const scenario: Scenario = await openScenario({
    catalogue,
    onLog: (message) => {
      if (message === 'created nodeclaim') created += 1;
    },
  });
  const hasCapacity = Faults.prototype.hasCapacity;
  const spy = vi.spyOn(Faults.prototype, 'hasCapacity').mockImplementation(function (this: Faults, faults, option) {
    const has = hasCapacity.call(this, faults, option);
    const key = offeringOf(option);
    if (!has) failures.set(key, [...(failures.get(key) ?? []), scenario.clock.elapsed()]);
    return has;
  });
  const soldOut = async (entries: object[]): Promise<void> => {
    const body = { spec: { faults: { insufficientCapacity: entries } } };
    await scenario.kube.patch(kwokNodeClasses, { name: 'default' }, { type: 'merge', body });
  };
  try {
    await scenario.pool();
    await soldOut([{}]);
    const startMs = scenario.clock.elapsed();
    await scenario.deployment('web', pods, {}, { cpu });
    await scenario.run(lastsMs);
    const endMs = scenario.clock.elapsed();
    await soldOut([]);
    const arePlaced = async (): Promise<boolean> => (await scenario.readyPods('web')).length === pods;
    await scenario.until('all pods are placed', arePlaced, 10 * minuteMs);
    const placedMs = scenario.clock.elapsed() - endMs;
    const nodes = (await scenario.nodes()).length;
    const needless = created - nodes;
    await scenario.run(5 * minuteMs);
    const times = [...failures.values()];
    return {
      worstMinuteAfterFive: Math.max(0, ...times.map((each) => worstMinute(each.slice(5)))),
      worstMinuteLater: Math.max(
        0,
        ...times.map((each) => worstMinute(each.filter((atMs) => atMs >= startMs + 5 * minuteMs))),
      ),
      needless,
      nodes,
      placedMs,
      left: { nodes: (await scenario.nodes()).length, claims: (await scenario.claims()).length },
      podEvents: scenario
        .eventsOf('InsufficientCapacityError')
        .filter(({ subject }) => subject.kind === 'Pod')
        .map(({ message }) => message),
    };
  } finally {
    spy.mockRestore();
    await scenario.close();
  }
}

function worstMinute(times: readonly number[]): number {
  let worst = 0;
  let first = 0;
  for (const [index, atMs] of times.entries()) {
    while ((times[first] as number) + minuteMs <= atMs) first += 1;
    worst = Math.max(worst, index - first + 1);
  }
  return worst;
}

function offeringOf({ instanceType, offering }: LaunchOption): string {
  const valueOf = (key: string): string => offering.requirements.find((each) => each.key === key)?.values?.[0] ?? '';
  return `${instanceType.name} ${valueOf(label.zone)} ${valueOf(label.capacityType)}`;
}
