// A price no plan for the same pods can go below, as a linear program. Pods may be split, nodes may be bought in
// fractions, topology, ports, limits and minValues are forgotten; what stays is that every pod needs its requests on
// something that its node requirements and tolerations allow and that is large enough for it, daemons and pod slots
// included, and that reserved capacity runs out. Room on nodes that exist is free and pooled.

import { hasBit } from '../../base/index.ts';
import { untolerated } from '../kube/taints.ts';
import type { Offering } from '../pools/instance-types.ts';
import type { Template } from '../pools/templates.ts';
import { grants, type NodeWish, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { Constraint, Need, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { type LinearProgram, LinearProgramBuilder } from './linear-program.ts';

/** Pods that ask for the same amounts and may run on the same machines. */
export interface Item {
  readonly kind: Kind;
  readonly need: Need;
  count: number;
}

/** What decides, requests aside, where a pod may run once topology is forgotten. */
interface Kind {
  readonly constraints: readonly Constraint[];
  readonly items: Item[];
}

/** Something that holds pods: machines of one type and offering by the number, or the free room of existing nodes. */
export interface Holder {
  readonly price: number;
  readonly most: number;
  readonly reservation: string | undefined;
  readonly items: readonly Item[];
  readonly room: (column: number) => number;
}

/** The pods of a plan and everything that could hold them, with what concerns other pods forgotten. */
export interface Relaxation {
  readonly items: readonly Item[];
  readonly machines: readonly Holder[];
  readonly existing: readonly Holder[];
  readonly columns: readonly number[];
  readonly reservations: ReadonlyMap<string, number>;
}

/** `placed`: keys of the pods the plan gave a place; the others cost nothing in any plan that leaves them out. */
export function relaxationOf(world: World, placed: ReadonlySet<string>): Relaxation {
  const kinds = kindsOf(world, placed);
  const items = kinds.flatMap((kind) => kind.items);
  return {
    items,
    machines: machines(world, kinds),
    existing: existingRoom(world, kinds),
    columns: [...new Set(items.flatMap(({ need }) => need.columns))],
    reservations: world.reservations,
  };
}

export function priceRelaxation(relaxation: Relaxation): LinearProgram {
  const { items, columns, existing, reservations } = relaxation;
  const holders = [...withoutDominated(relaxation.machines, columns), ...existing];
  return program(items, holders, columns, reservations);
}

function kindsOf(world: World, placed: ReadonlySet<string>): Kind[] {
  const kinds = new Map<string, Kind>();
  const itemOf = new Map<PodGroup, Item>();
  for (const { key, group } of world.workload.pods) {
    if (!placed.has(key)) continue;
    let item = itemOf.get(group);
    if (item === undefined) {
      const constraints = group.steps.map((step) => step.constraint);
      const identity = constraints
        .map(({ wish, tolerationId, volumes }) => `${wish.identity}|${tolerationId}|${volumes.map((v) => v.identity)}`)
        .join(';');
      let kind = kinds.get(identity);
      if (kind === undefined) {
        kind = { constraints, items: [] };
        kinds.set(identity, kind);
      }
      item = kind.items.find(({ need }) => need.id === group.need.id);
      if (item === undefined) {
        item = { kind, need: group.need, count: 0 };
        kind.items.push(item);
      }
      itemOf.set(group, item);
    }
    item.count += 1;
  }
  return [...kinds.values()];
}

const fits = (need: Need, room: (column: number) => number): boolean =>
  need.columns.every((column, at) => (need.amounts[at] as number) <= room(column));

/** One holder per type and distinct set of pods that may use an offering of it, at the cheapest such offering. */
function machines(world: World, kinds: readonly Kind[]): Holder[] {
  const holders: Holder[] = [];
  for (const template of world.templates) {
    const waysOf = new Map(kinds.map((kind) => [kind, waysOnto(world, template, kind)]));
    for (let row = 0; row < template.rows.count; row++) {
      if (!hasBit(template.viable, row)) continue;
      const room = (column: number): number => template.room[column]?.[row] ?? 0;
      const cheapest = new Map<string, { offering: Offering; kinds: Kind[] }>();
      for (const offering of template.rows.offeringsOf[row] ?? []) {
        const allowed = kinds.filter((kind) =>
          waysOf
            .get(kind)
            ?.some(
              (set) =>
                hasBit(template.rows.matching(set), row) && world.table.compatible(set, offering.set, 'wellKnown'),
            ),
        );
        const identity = `${allowed.map((kind) => kinds.indexOf(kind)).join()}#${offering.reservationId}`;
        const known = cheapest.get(identity);
        if (known === undefined || offering.price < known.offering.price) {
          cheapest.set(identity, { offering, kinds: allowed });
        }
      }
      for (const { offering, kinds: allowed } of cheapest.values()) {
        const items = allowed.flatMap((kind) => kind.items.filter(({ need }) => fits(need, room)));
        if (items.length === 0) continue;
        const reservation = offering.reserved ? offering.reservationId : undefined;
        holders.push({ price: offering.price, most: Number.POSITIVE_INFINITY, reservation, items, room });
      }
    }
  }
  return holders;
}

/** The requirement sets a node of the template can end up with for such a pod, one per relaxation and volume choice. */
function waysOnto({ table }: World, template: Template, { constraints }: Kind): RequirementSet[] {
  const ways: RequirementSet[] = [];
  for (const { wish, tolerations, volumes } of constraints) {
    if (untolerated(template.taints, tolerations).length > 0) continue;
    const own = withoutOthersLabels(table, template.set, wish);
    if (!grants(table, template.set, placeholderHostname, own, 'wellKnown')) continue;
    const base = table.meet(template.set, own.set);
    const choices: (NodeWish | undefined)[] = volumes.length === 0 ? [undefined] : [...volumes];
    for (const volume of choices) {
      if (volume === undefined) ways.push(base);
      else if (grants(table, base, placeholderHostname, volume, 'wellKnown')) ways.push(table.meet(base, volume.set));
    }
  }
  return ways;
}

/**
 * Without labels that the template does not have: another pod on the same node may ask for such a label in a way that gives
 * it to the node (`NotIn`), and then this one may ask for it, too.
 */
function withoutOthersLabels(table: World['table'], labels: RequirementSet, wish: NodeWish): NodeWish {
  const isOthers = (key: string): boolean => !table.defines(labels, key, 'wellKnown');
  const keys = [...wish.set.byKey.keys()].filter(isOthers);
  if (keys.length === 0) return wish;
  return { ...wish, set: table.without(wish.set, keys), present: wish.present.filter((key) => !isOthers(key)) };
}

/** Free room of existing nodes, pooled over nodes that admit the same pods. */
function existingRoom(world: World, kinds: readonly Kind[]): Holder[] {
  const pools = new Map<string, { items: Set<Item>; kinds: Kind[]; free: Map<number, number> }>();
  for (const node of world.nodes) {
    const free = new Map([...node.free].map(([name, amount]) => [world.resources.column(name), amount]));
    if ([...free.values()].some((amount) => amount < 0)) continue;
    const allowed = kinds.filter((kind) =>
      kind.constraints.some(
        ({ wish, tolerations }) =>
          untolerated(node.taints, tolerations).length === 0 &&
          grants(world.table, node.set, node.hostname, wish, 'strict'),
      ),
    );
    const identity = allowed.map((kind) => kinds.indexOf(kind)).join();
    let pool = pools.get(identity);
    if (pool === undefined) {
      pool = { items: new Set(), kinds: allowed, free: new Map() };
      pools.set(identity, pool);
    }
    for (const [column, amount] of free) pool.free.set(column, (pool.free.get(column) ?? 0) + amount);
    for (const kind of allowed) {
      for (const item of kind.items) if (fits(item.need, (column) => free.get(column) ?? 0)) pool.items.add(item);
    }
  }
  return [...pools.values()]
    .filter(({ items }) => items.size > 0)
    .map(({ items, free }) => ({
      price: 0,
      most: 1,
      reservation: undefined,
      items: [...items],
      room: (column) => free.get(column) ?? 0,
    }));
}

/**
 * Leaves out machines that another one beats: as much of everything, for at least the same pods, and no dearer; if the
 * other is so large that whole pods do not matter on it, as much per dollar is enough.
 */
function withoutDominated(holders: readonly Holder[], columns: readonly number[]): Holder[] {
  const known = holders.map((holder) => {
    const room = columns.map((column) => holder.room(column));
    return {
      holder,
      items: new Set(holder.items),
      room,
      perDollar: room.map((amount) => amount / holder.price),
      isLarge: wholePodCuts(holder, columns).length === 0,
    };
  });
  type Known = (typeof known)[number];
  const asMuch = (a: readonly number[], b: readonly number[]): boolean =>
    a.every((amount, at) => amount >= (b[at] as number));
  const beats = (a: Known, b: Known): boolean =>
    a.holder.reservation === undefined &&
    ((a.isLarge && asMuch(a.perDollar, b.perDollar)) || (a.holder.price <= b.holder.price && asMuch(a.room, b.room))) &&
    b.holder.items.every((item) => a.items.has(item));
  const kept: Known[] = [];
  // Large ones with the most per dollar first, so that most losers meet a winner early.
  known.sort((a, b) => Number(b.isLarge) - Number(a.isLarge) || (b.perDollar[0] ?? 0) - (a.perDollar[0] ?? 0));
  for (const candidate of known) {
    const isReserved = candidate.holder.reservation !== undefined || candidate.holder.price <= 0;
    if (!isReserved && kept.some((winner) => beats(winner, candidate))) continue;
    kept.push(candidate);
  }
  return kept.map(({ holder }) => holder);
}

function program(
  items: readonly Item[],
  holders: readonly Holder[],
  columns: readonly number[],
  reservations: ReadonlyMap<string, number>,
): LinearProgram {
  const builder = new LinearProgramBuilder();
  const rowOf = new Map(items.map((item) => [item, builder.row(item.count, item.count)]));
  const reservationRow = new Map([...reservations].map(([id, most]) => [id, builder.row(0, most)]));
  // Amounts are in bytes and thousandths; the solver wants numbers near one.
  const scale = new Map(columns.map((column) => [column, 1 / Math.max(1, ...holders.map((h) => h.room(column)))]));
  for (const holder of holders) {
    const used = new Set(holder.items.flatMap(({ need }) => need.columns));
    const capacityRow = new Map([...used].map((column) => [column, builder.row(Number.NEGATIVE_INFINITY, 0)]));
    const scaled = (column: number, amount: number): number => amount * (scale.get(column) as number);
    const cuts = holder.most === Number.POSITIVE_INFINITY ? wholePodCuts(holder, [...used]) : [];
    const cutRows = cuts.map(() => builder.row(Number.NEGATIVE_INFINITY, 0));
    const bought = [
      ...[...capacityRow].map(([column, row]) => [row, -scaled(column, holder.room(column))] as const),
      ...cuts.map(({ parts }, at) => [cutRows[at] as number, -parts] as const),
    ];
    const reserved = holder.reservation === undefined ? undefined : reservationRow.get(holder.reservation);
    builder.column(holder.price, holder.most, reserved === undefined ? bought : [[reserved, 1], ...bought]);
    for (const item of holder.items) {
      const taken = [
        ...item.need.columns.map(
          (column, at) => [capacityRow.get(column) as number, scaled(column, item.need.amounts[at] as number)] as const,
        ),
        ...cuts
          .map(({ takes }, at) => [cutRows[at] as number, takes.get(item) ?? 0] as const)
          .filter(([, count]) => count > 0),
      ];
      builder.column(0, Number.POSITIVE_INFINITY, [[rowOf.get(item) as number, 1], ...taken]);
    }
  }
  return builder.build();
}

/** A node counted in `parts`; pods that take up whole parts of it, rounded down, cannot take more than there are. */
interface WholePodCut {
  readonly parts: number;
  readonly takes: ReadonlyMap<Item, number>;
}

/** Finer divisions say little that the room itself does not say. */
const mostParts = 6;

/**
 * What a node cannot hold because pods are not split, although the room would allow it: of pods larger than half of it
 * one, of pods larger than a third two, and so on. For pods that need a_i of room 1 and any whole k, the sum of
 * ceil((k + 1) a_i) − 1 is below the sum of (k + 1) a_i, which is at most k + 1; being whole, it is at most k.
 */
function wholePodCuts(holder: Holder, columns: readonly number[]): WholePodCut[] {
  const cuts: WholePodCut[] = [];
  for (const column of columns) {
    const room = holder.room(column);
    if (room <= 0) continue;
    for (let parts = 1; parts <= mostParts; parts++) {
      const takes = new Map<Item, number>();
      let saysMore = false;
      for (const item of holder.items) {
        const share = (item.need.amounts[item.need.columns.indexOf(column)] ?? 0) / room;
        // The tiny part taken off keeps rounding from making a cut too strong.
        const count = Math.ceil((parts + 1) * share - 1e-9) - 1;
        if (count > 0) takes.set(item, count);
        saysMore ||= count / parts > share * 1.001;
      }
      if (saysMore) cuts.push({ parts, takes });
    }
  }
  return cuts;
}
