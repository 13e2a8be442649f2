// Nodes of one pool, or of several that weigh the same, opened together: their pods by kind, and what could be bought for them.

import { isEmptyBitset, type Sliced } from '../../base/index.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { World } from '../world.ts';
import { unitsOf } from './companions.ts';
import { type BareOffer, type LabelledOffer, offersFor, rowsWithoutReserved } from './offers.ts';
import { OpenedPods, type PodKind } from './opened-pods.ts';
import { type Kind, kindsThatFit } from './pile.ts';

/** Labels that nodes of one of the pools may be asked for, with the pool's position. */
export interface LabelChoice {
  readonly at: number;
  readonly set: RequirementSet;
}

export class OpenedPile {
  readonly newNodes: readonly NewNode[];
  readonly templates: readonly Template[];
  readonly podKinds: readonly PodKind[];
  /** The kinds as the search for cheap nodes sees them. */
  readonly kinds: readonly Kind[];
  readonly choices: readonly LabelChoice[];
  readonly pods: number;
  private readonly world: World;
  private readonly opened: OpenedPods;
  /** Resources, and after them CSI drivers whose volumes are limited. */
  private readonly columns: readonly number[];
  private readonly drivers: readonly string[];
  /** By choice of labels the kinds that suit it. */
  private readonly suited = new Map<LabelChoice, readonly number[]>();

  static *of(
    world: World,
    templates: readonly Template[],
    newNodes: readonly NewNode[],
    stepOf: (pod: number) => number,
  ): Sliced<OpenedPile> {
    const opened = new OpenedPods(world, templates);
    for (const newNode of newNodes) {
      const { alone, together } = unitsOf(world, newNode, stepOf);
      for (const pod of alone) opened.add(newNode, pod, stepOf(pod));
      for (const pods of together) opened.addTogether(newNode, pods, stepOf);
      yield;
    }
    for (const { size, pods } of opened.kinds) if (size === 1) pods.sort((left, right) => left - right);
    return new OpenedPile(world, templates, newNodes, opened);
  }

  private constructor(world: World, templates: readonly Template[], newNodes: readonly NewNode[], opened: OpenedPods) {
    this.world = world;
    this.templates = templates;
    this.newNodes = newNodes;
    this.opened = opened;
    const { kinds } = opened;
    this.podKinds = kinds;
    this.columns = [...new Set(kinds.flatMap(({ need }) => need.columns))].sort((left, right) => left - right);
    this.drivers = [...new Set(kinds.flatMap(({ volumes }) => [...volumes.keys()]))].sort();
    this.kinds = kinds.map(({ need, volumes, host, size, pods }): Kind => {
      const amounts = this.columns.map((column) => need.amounts[need.columns.indexOf(column)] ?? 0);
      const attached = this.drivers.map((driver) => volumes.get(driver) ?? 0);
      return { need: Float64Array.from([...amounts, ...attached]), count: pods.length / size, host };
    });
    this.pods = this.kinds.reduce((sum, { count }) => sum + count, 0);
    this.choices = this.labelChoices();
  }

  get width(): number {
    return this.columns.length + this.drivers.length;
  }

  /**
   * Only labels that packed nodes had: a node in another zone would be a domain that spreads have not counted with. In
   * other pools, what all pods that were together want there.
   */
  private labelChoices(): LabelChoice[] {
    const { table } = this.world;
    return this.templates.flatMap((template, at) => {
      const own = this.newNodes.flatMap((newNode) => (newNode.template === template ? [newNode.set] : []));
      const sets = new Set(own);
      if (this.templates.length > 1) {
        for (const [labels, kinds] of this.opened.kindsOn) {
          if (sets.has(labels)) continue;
          let set = template.set;
          let any = false;
          for (const kind of kinds) {
            const wanted = kind.sets[at];
            if (wanted === undefined || kind.exact || !table.compatible(set, wanted, 'wellKnown')) continue;
            set = table.meet(set, wanted);
            any = true;
          }
          if (any && !isEmptyBitset(template.rows.matching(set))) sets.add(set);
        }
      }
      return [...sets].map((set) => ({ at, set }));
    });
  }

  /** Rows that could be bought, before it is known which pods fit them; `limits` say how large they may be. */
  *bareOffers(limits: PoolLimits): Sliced<Map<LabelChoice, BareOffer[]>> {
    const { table, settings } = this.world;
    const offers = new Map<LabelChoice, BareOffer[]>();
    for (const choice of this.choices) {
      const template = this.templates[choice.at] as Template;
      const suited = this.suitedTo(choice);
      if (suited.length === 0) continue;
      const widest = limits.rowsInstead(template, this.newNodesOf(template));
      if (widest === undefined) continue;
      const reserves = template.hasReserved && settings.reservedCapacity;
      const rows = reserves ? rowsWithoutReserved(table, template, choice.set, widest) : widest;
      const wanted = this.totalNeed(suited);
      const roomOf = (row: number): Float64Array => this.roomOf(template, row, wanted);
      offers.set(choice, yield* offersFor({ template, set: choice.set, rows, roomOf }));
    }
    return offers;
  }

  *withKinds(bare: ReadonlyMap<LabelChoice, readonly BareOffer[]>): Sliced<LabelledOffer[]> {
    const offers: LabelledOffer[] = [];
    for (const [choice, own] of bare) {
      const suited = this.suitedTo(choice);
      for (const offer of own) {
        const kinds = kindsThatFit(this.kinds, offer.room, suited);
        if (kinds.length > 0) offers.push({ ...offer, kinds });
        yield;
      }
    }
    return offers;
  }

  newNodesOf(template: Template): NewNode[] {
    return this.newNodes.filter((newNode) => newNode.template === template);
  }

  private suitedTo(choice: LabelChoice): readonly number[] {
    let suited = this.suited.get(choice);
    if (suited === undefined) {
      const { at, set } = choice;
      suited = this.podKinds.flatMap(({ sets, exact }, kind) => {
        const own = sets[at];
        if (own === undefined) return [];
        return (exact ? own === set : this.opened.implies(set, own)) ? [kind] : [];
      });
      this.suited.set(choice, suited);
    }
    return suited;
  }

  /** Room for more than all pods together is worth nothing: of the rows that hold everything only the cheapest is left. */
  private roomOf(template: Template, row: number, wanted: Float64Array): Float64Array {
    const { columns, drivers } = this;
    const room = new Float64Array(wanted.length);
    columns.forEach((column, at) => {
      room[at] = Math.min(template.room[column]?.[row] ?? 0, wanted[at] as number);
    });
    if (drivers.length === 0) return room;
    const limits = template.rows.types[template.rows.typeOf[row] as number]?.attachLimits;
    drivers.forEach((driver, index) => {
      const at = columns.length + index;
      room[at] = Math.min(limits?.[driver] ?? Number.POSITIVE_INFINITY, wanted[at] as number);
    });
    return room;
  }

  private totalNeed(suited: readonly number[]): Float64Array {
    const total = new Float64Array(this.width);
    for (const at of suited) {
      const { need, count } = this.kinds[at] as Kind;
      for (let column = 0; column < total.length; column++)
        total[column] = (total[column] as number) + (need[column] as number) * count;
    }
    return total;
  }
}
