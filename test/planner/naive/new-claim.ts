// A node under construction during naive planning: the instance types that still fit everything on it.
import { label } from '../../../src/api/index.ts';
import {
  cheapestPrice,
  type InstanceType,
  missedMinValues,
  type Offering,
  type Template,
  usableOfferings,
} from '../rules/catalogue.ts';
import type { Cluster } from '../rules/cluster.ts';
import { type Daemon, daemonsOnType } from '../rules/daemons.ts';
import type { Pod } from '../rules/objects.ts';
import { type HostPort, hostPorts, portsConflict } from '../rules/pods.ts';
import { type Amounts, misfit, plus } from '../rules/quantity.ts';
import { both, conflict, get, incompatible, oneOf, type Requirements } from '../rules/requirement.ts';
import { untolerated } from '../rules/selector.ts';
import { attachments } from '../rules/volumes.ts';
import type { Asking } from './asking.ts';
import type { Reservations } from './reservations.ts';
import type { Topology } from './topology.ts';

export type Answer = 'taken' | 'refused' | 'minValues' | 'reserved';

export interface Surroundings {
  cluster: Cluster;
  daemons: Daemon[];
  reservations: Reservations;
  topology: Topology;
  /** Pods left over may go to domains that are not the emptiest. */
  lastResort: boolean;
}

export class NewClaim {
  readonly template: Template;
  readonly hostname: string;
  readonly pods: Pod[] = [];
  minValuesRelaxed = false;
  requirements: Requirements;
  types: InstanceType[];
  held: Offering[] = [];
  private used: Amounts = new Map();
  private ports: HostPort[] = [];
  private readonly around: Surroundings;

  constructor(template: Template, types: InstanceType[], hostname: string, around: Surroundings) {
    this.template = template;
    this.types = types;
    this.hostname = hostname;
    this.requirements = both(template.requirements, new Map([[label.hostname, oneOf(label.hostname, [hostname])]]));
    this.around = around;
  }

  take(asking: Asking, relaxMinValues: boolean): Answer {
    const { cluster, topology, reservations, lastResort } = this.around;
    const { pod } = asking;
    if (untolerated(this.template.taints, asking.spec.tolerations) !== undefined) return 'refused';
    if (incompatible(this.requirements, asking.requirements, cluster.wellKnown) !== undefined) return 'refused';
    const base = both(this.requirements, asking.requirements);
    // The last alternative decides.
    let last: Answer = 'refused';
    for (const volumes of asking.volumes) {
      last = 'refused';
      if (incompatible(base, volumes, cluster.wellKnown) !== undefined) continue;
      const where = { requirements: both(base, volumes), taints: this.template.taints };
      const used = plus(this.used, asking.requests);
      const ports = hostPorts(asking.spec);
      const holding = (narrowed: Requirements): InstanceType[] =>
        this.types.filter((type) => this.attaches(type, asking.pod) && this.holds(type, narrowed, used, ports));
      const canBeHad = lastResort ? (narrowed: Requirements) => holding(narrowed).length > 0 : undefined;
      const answer = topology.narrow(pod, asking.strict, where, canBeHad);
      if ('refused' in answer || incompatible(where.requirements, answer.narrowed, cluster.wellKnown) !== undefined)
        continue;
      let wanted = answer.narrowed;
      let types = holding(wanted);
      const missed = missedMinValues(types, wanted);
      if (missed.size > 0 && !relaxMinValues) {
        last = 'minValues';
        types = [];
      }
      if (types.length === 0) continue;
      if (missed.size > 0) wanted = lowered(wanted, missed);
      const toHold = this.reservable(types, wanted, used);
      if (toHold === 'none left' || (toHold.length === 0 && this.held.length > 0)) {
        last = 'reserved';
        continue;
      }
      this.minValuesRelaxed ||= missed.size > 0;
      this.requirements = wanted;
      this.types = types;
      this.used = used;
      this.ports.push(...hostPorts(asking.spec));
      this.pods.push(pod);
      this.held = toHold;
      reservations.hold(this, toHold);
      if (this.pods.length === 1) topology.registerHostname(this.hostname);
      topology.record(pod, { requirements: wanted, taints: this.template.taints });
      return 'taken';
    }
    return last;
  }

  /** The type attaches the volumes of all its pods and of this one. */
  private attaches(type: InstanceType, pod: Pod): boolean {
    const all = new Map<string, Set<string>>();
    for (const each of [...this.pods, pod]) {
      for (const [driver, claims] of attachments(each, this.around.cluster))
        all.set(driver, new Set([...(all.get(driver) ?? []), ...claims]));
    }
    const own = attachments(pod, this.around.cluster);
    return [...own.keys()].every(
      (driver) => (all.get(driver)?.size ?? 0) <= (type.attachLimits[driver] ?? Number.POSITIVE_INFINITY),
    );
  }

  private holds(type: InstanceType, wanted: Requirements, used: Amounts, ports: HostPort[]): boolean {
    const { cluster } = this.around;
    const daemons = daemonsOnType(this.around.daemons, this.template, type, cluster);
    if (portsConflict(ports, [...this.ports, ...daemons.flatMap((daemon) => daemon.ports)])) return false;
    return conflict(type.requirements, wanted) === undefined && this.roomy(type, wanted, used).length > 0;
  }

  /** Usable offerings of the type whose machines hold `used` and the type's daemons. */
  private roomy(type: InstanceType, wanted: Requirements, used: Amounts): Offering[] {
    const { cluster } = this.around;
    const daemons = daemonsOnType(this.around.daemons, this.template, type, cluster);
    const needed = plus(used, ...daemons.map((daemon) => daemon.requests));
    return usableOfferings(type, wanted, cluster).filter(
      (offering) => misfit(needed, offering.allocatable) === undefined,
    );
  }

  private reservable(types: InstanceType[], wanted: Requirements, used: Amounts): Offering[] | 'none left' {
    const { cluster, reservations } = this.around;
    if (cluster.settings.featureGates['ReservedCapacity'] === false) return [];
    const usable = types.flatMap((type) => this.roomy(type, wanted, used));
    const compatible = usable.filter((offering) => offering.capacityType === 'reserved');
    const withRoom = compatible.filter((offering) => reservations.hasRoom(offering));
    const free = withRoom.filter((offering) => reservations.canHold(this, offering));
    if (withRoom.length > 0) return free.length === 0 ? 'none left' : free;
    // Reservations that were full from the start are nothing to wait for, unless there is nothing else.
    return compatible.length > 0 && compatible.length === usable.length ? 'none left' : [];
  }

  /** Final requirements: without the placeholder host name, and with what is reserved. */
  finish(): { requirements: Requirements; types: string[]; minValuesMissed: boolean } {
    const { cluster } = this.around;
    const final = new Map(this.requirements);
    final.delete(label.hostname);
    if (this.held.length > 0) {
      final.set(label.capacityType, oneOf(label.capacityType, ['reserved']));
      const key = cluster.reservationIDLabel ?? '';
      const ids = oneOf(
        key,
        this.held.map((offering) => offering.reservationID ?? ''),
      );
      final.set(key, both(new Map([[key, get(final, key)]]), new Map([[key, ids]])).get(key) ?? ids);
    }
    const price = new Map(this.types.map((type) => [type, cheapestPrice(type, final, cluster)]));
    const sorted = [...this.types].sort(
      (a, b) => (price.get(a) ?? 0) - (price.get(b) ?? 0) || (a.name < b.name ? -1 : 1),
    );
    const kept = sorted.slice(0, cluster.settings.maxInstanceTypes);
    const minValuesMissed = cluster.settings.minValuesPolicy === 'Strict' && missedMinValues(kept, final).size > 0;
    return { requirements: final, types: kept.map((type) => type.name), minValuesMissed };
  }
}

function lowered(wanted: Requirements, reached: Map<string, number>): Requirements {
  return new Map(
    [...wanted].map(([key, r]) => {
      const count = reached.get(key);
      return [key, count === undefined ? r : { ...r, minValues: count }];
    }),
  );
}
