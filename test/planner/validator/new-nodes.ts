// Every new node by itself: its types really fit, are listed cheapest first, the chosen offering exists and is the
// cheapest, requirements hold for every pod on it, and pools' limits, minValues and reservations are respected.
import { annotation, label } from '../../../src/api/index.ts';
import type { Plan, PlannedNode } from '../../../src/core/index.ts';
import {
  cheapestPrice,
  type InstanceType,
  isLaunchable,
  missedMinValues,
  type Offering,
  type Template,
  templateOf,
  usableOfferings,
  usablePools,
} from '../rules/catalogue.ts';
import type { Cluster } from '../rules/cluster.ts';
import { type Daemon, daemonsOf, daemonsOnType } from '../rules/daemons.ts';
import { type Pod, podKey } from '../rules/objects.ts';
import { podRequests, requiredTerms, termRequirements } from '../rules/pods.ts';
import {
  type Amounts,
  amounts,
  larger,
  minus,
  misfit,
  plus,
  sameAmounts,
  showAmounts,
  smallest,
} from '../rules/quantity.ts';
import { conflict, fromLabels, get, type Requirements, requirements, within } from '../rules/requirement.ts';

interface Read {
  node: PlannedNode;
  template: Template;
  types: InstanceType[];
  wanted: Requirements;
  pods: Pod[];
}

export function newNodeViolations(plan: Plan, cluster: Cluster): string[] {
  const wrong: string[] = [];
  const daemons = daemonsOf(cluster);
  const read: Read[] = [];
  for (const node of plan.newNodes) {
    const pool = usablePools(cluster).find((p) => p.metadata.name === node.nodePool);
    const template = pool === undefined ? undefined : templateOf(pool, cluster);
    if (template === undefined) {
      wrong.push(`new node ${node.name} is of NodePool ${node.nodePool}, which cannot launch nodes`);
      continue;
    }
    const types = node.instanceTypes.flatMap((name) => template.types.find((type) => type.name === name) ?? []);
    const wanted = requirements(node.requirements);
    const pods = node.pods.flatMap((key) => cluster.waiting.find((pod) => podKey(pod) === key) ?? []);
    const entry = { node, template, types, wanted, pods };
    read.push(entry);
    wrong.push(...typeViolations(entry, daemons, cluster), ...requirementViolations(entry, cluster));
  }
  return [...wrong, ...limitViolations(read, cluster), ...reservationViolations(read, cluster)];
}

/** What a node of that type carries: its pods and the daemons of that type. */
function load({ template, pods }: Read, type: InstanceType, daemons: Daemon[], cluster: Cluster): Amounts {
  const due = daemonsOnType(daemons, template, type, cluster);
  return plus(...pods.map((pod) => podRequests(pod.spec)), ...due.map((daemon) => daemon.requests));
}

function typeViolations(entry: Read, daemons: Daemon[], cluster: Cluster): string[] {
  const { node, types, wanted, template, pods } = entry;
  const wrong: string[] = [];
  const say = (text: string): void => void wrong.push(`new node ${node.name}: ${text}`);
  if (node.instanceTypes.length === 0) say('no instance types');
  if (node.instanceTypes.length > cluster.settings.maxInstanceTypes) say(`${node.instanceTypes.length} instance types`);
  if (new Set(node.instanceTypes).size < node.instanceTypes.length) say('an instance type is listed twice');
  if (types.length < node.instanceTypes.length) say('lists an instance type its NodePool does not have');
  // A node that holds reservations may keep types without one; they can never be launched and stand last.
  const holding = wanted.get(label.capacityType)?.values.has('reserved') ?? false;
  const fitting: { type: InstanceType; offering: Offering }[] = [];
  for (const type of types) {
    const clash = conflict(type.requirements, wanted);
    if (clash !== undefined && !holding) say(`type ${type.name} contradicts the requirements on ${clash}`);
    const usable = usableOfferings(type, wanted, cluster);
    if (usable.length === 0 && !holding) say(`type ${type.name} has no available offering that meets the requirements`);
    const needed = load(entry, type, daemons, cluster);
    const roomy = usable.filter((offering) => misfit(needed, offering.allocatable) === undefined);
    if (usable.length > 0 && roomy.length === 0) {
      const room = usable[0]?.allocatable ?? new Map();
      say(`type ${type.name} is too small (${misfit(needed, room)}): ${showAmounts(needed)} in ${showAmounts(room)}`);
    }
    fitting.push(...roomy.filter(isLaunchable).map((offering) => ({ type, offering })));
  }
  // The price of a type is that of its cheapest offering; counting only offerings with enough room is as good.
  const ofType = (type: InstanceType): number[] =>
    fitting.filter((entry) => entry.type === type).map(({ offering }) => offering.price);
  const disorder = firstDescent(types.map((type) => cheapestPrice(type, wanted, cluster)));
  if (disorder >= 0 && firstDescent(types.map((type) => Math.min(...ofType(type)))) >= 0) {
    say(`type ${types[disorder]?.name} stands after the dearer ${types[disorder - 1]?.name}`);
  }
  const { chosen } = node;
  const match = fitting.find(
    ({ type, offering }) =>
      type.name === chosen.instanceType &&
      offering.zone === chosen.zone &&
      offering.capacityType === chosen.capacityType,
  );
  if (match === undefined) say(`chosen ${JSON.stringify(chosen)} is not an offering that fits`);
  const cheapest = Math.min(...fitting.map(({ offering }) => offering.price));
  if (Math.abs(cheapest - chosen.pricePerHour) > 1e-9)
    say(`chosen costs ${chosen.pricePerHour}, the cheapest ${cheapest}`);
  const daemonShare = smallest(
    types.map((type) => plus(...daemonsOnType(daemons, template, type, cluster).map((daemon) => daemon.requests))),
  );
  const own = plus(...pods.map((pod) => podRequests(pod.spec)));
  const cut = node.instanceTypes.length === cluster.settings.maxInstanceTypes;
  // Daemons are counted before the list is cut, so a type that is no longer listed may have had fewer.
  const stated = amounts(node.requests);
  const between = cut && misfit(own, stated) === undefined && misfit(stated, plus(own, daemonShare)) === undefined;
  if (!between && !sameAmounts(plus(own, daemonShare), stated)) {
    say(`requests are ${showAmounts(stated)} instead of ${showAmounts(plus(own, daemonShare))}`);
  }
  // Under BestEffort a list cut to its maximum may fall short of what the whole list had.
  if (cluster.settings.minValuesPolicy === 'Strict' || !cut) {
    for (const [key, reached] of missedMinValues(types, wanted)) say(`minValues of ${key} missed: ${reached}`);
  }
  return wrong;
}

/** Index of the first number smaller than the one before it, or -1. */
function firstDescent(numbers: readonly number[]): number {
  return numbers.findIndex((value, i) => i > 0 && value < (numbers[i - 1] ?? 0) - 1e-12);
}

function requirementViolations({ node, template, wanted, pods }: Read, cluster: Cluster): string[] {
  const wrong: string[] = [];
  const say = (text: string): void => void wrong.push(`new node ${node.name}: ${text}`);
  const simulated = new Set<string>([label.registered, label.initialized]);
  const implied = (set: Requirements): string | undefined =>
    [...set].find(([key, r]) => !simulated.has(key) && !within(get(wanted, key), r))?.[0];
  if (wanted.has(label.hostname)) say('requirements name a host');
  const missing = implied(template.requirements);
  if (missing !== undefined) say(`requirements are wider than the NodePool's on ${missing}`);
  for (const pod of pods) {
    const own = implied(fromLabels(pod.spec.nodeSelector ?? {}, cluster.spelling));
    if (own !== undefined) say(`does not promise ${podKey(pod)} its node selector ${own}`);
    const terms = requiredTerms(pod.spec).map((term) => implied(termRequirements(term, cluster.spelling)));
    if (terms.length > 0 && terms.every((key) => key !== undefined)) {
      say(`promises ${podKey(pod)} none of its required node affinity terms (${terms.join(', ')})`);
    }
  }
  const relaxed = node.annotations[annotation.minValuesRelaxed];
  if (relaxed !== 'true' && relaxed !== 'false') say(`annotation ${annotation.minValuesRelaxed} is ${relaxed}`);
  for (const [key, r] of template.requirements) {
    const kept = wanted.get(key)?.minValues ?? 0;
    if (r.minValues === undefined || kept >= r.minValues) continue;
    if (cluster.settings.minValuesPolicy === 'Strict') say(`minValues of ${key} lowered under policy Strict`);
    else if (relaxed !== 'true') say(`minValues of ${key} lowered without saying so`);
  }
  return wrong;
}

/** With the largest type each node may become, limits still hold. */
function limitViolations(read: Read[], cluster: Cluster): string[] {
  const wrong: string[] = [];
  for (const pool of cluster.pools) {
    const own = read.filter((entry) => entry.template.name === pool.metadata.name);
    if (pool.spec.limits === undefined || own.length === 0) continue;
    const machines = cluster.machines.filter((m) => !m.leaving && m.labels[label.nodePool] === pool.metadata.name);
    const before = minus(
      amounts(pool.spec.limits),
      plus(...machines.map((machine) => new Map([...machine.capacity, ...amounts({ nodes: 1 })]))),
    );
    const most = plus(
      ...own.map(({ types }) => types.map((type) => type.capacity).reduce(larger, new Map())),
      amounts({ nodes: own.length }),
    );
    for (const [name] of amounts(pool.spec.limits)) {
      const left = (before.get(name) ?? 0n) - (most.get(name) ?? 0n);
      if (left < 0n)
        wrong.push(`NodePool ${pool.metadata.name} may exceed its limit of ${name} by ${Number(-left) / 1e9}`);
    }
  }
  return wrong;
}

function reservationViolations(read: Read[], cluster: Cluster): string[] {
  const key = cluster.reservationIDLabel;
  if (key === undefined) return [];
  const capacity = new Map<string, number>();
  for (const pool of usablePools(cluster)) {
    for (const type of templateOf(pool, cluster)?.types ?? []) {
      for (const { reservationID, reservationCapacity } of type.offerings) {
        if (reservationID === undefined) continue;
        capacity.set(
          reservationID,
          Math.min(capacity.get(reservationID) ?? Number.POSITIVE_INFINITY, reservationCapacity),
        );
      }
    }
  }
  const uncounted = read.flatMap(({ node, wanted }) =>
    node.chosen.capacityType === 'reserved' && !wanted.has(key)
      ? [`new node ${node.name} would be launched from a reservation that it does not count on`]
      : [],
  );
  const overbooked = [...capacity].flatMap(([id, most]) => {
    const holders = read.filter(({ wanted }) => {
      const ids = wanted.get(key);
      return ids !== undefined && !ids.complement && ids.values.has(id);
    });
    return holders.length > most ? [`reservation ${id} has ${most} places, ${holders.length} nodes count on it`] : [];
  });
  return [...uncounted, ...overbooked];
}
