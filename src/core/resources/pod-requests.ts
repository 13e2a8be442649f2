// What a pod needs, by Kubernetes' rules: containers and sidecars together, or the largest init container beside the
// sidecars started before it, whichever is more; pod-level requests instead if given; overhead on top; while a resize is
// under way the larger of what is wished and what is held. Limits stand in for requests no one wrote.

import type { Container, ContainerStatus, Pod, PodSpec, ResourceRequirements } from '../kube/objects.ts';
import type { ResourceQuantities } from '../snapshot.ts';
import type { ResourceTable } from './resource-table.ts';

type Amounts = Map<string, number>;
type PodStatus = NonNullable<Pod['status']>;

/** Shapes that something that lives as long as the process remembers; some 10 MiB. */
const mostRemembered = 20_000;

/** Requests of pods with equal specifications, computed once; equal requests are the same object. */
export class RequestsOfPods {
  private readonly table: ResourceTable;
  private readonly most: number;
  private readonly known = new Map<string, ReadonlyMap<string, number>>();

  /** `forgets`: outlives the pods it is asked about, so it begins anew whenever it knows very many shapes. */
  constructor(table: ResourceTable, { forgets = false, most = mostRemembered } = {}) {
    this.table = table;
    this.most = forgets ? most : Number.POSITIVE_INFINITY;
  }

  /** How many shapes are remembered. */
  get size(): number {
    return this.known.size;
  }

  /** Quantities in the units of requests. */
  amounts(list: ResourceQuantities): Map<string, number> {
    return new Map(Object.entries(list).map(([name, quantity]) => [name, this.table.amount(name, quantity)]));
  }

  of(pod: Pod): ReadonlyMap<string, number> {
    const identity = requestsIdentity(pod.spec ?? {}) + heldIdentity(pod.status);
    let requests = this.known.get(identity);
    if (requests === undefined) {
      requests = podRequests(this.table, pod);
      // Every resource anyone asks for has its column before the columns of nodes and types are built.
      for (const name of requests.keys()) this.table.column(name);
      if (this.known.size >= this.most) this.known.clear();
      this.known.set(identity, requests);
    }
    return requests;
  }
}

/** What its containers hold, as text: every running one says so, and that differs from its spec only while it is resized. */
function heldIdentity(status: PodStatus | undefined): string {
  let identity = '';
  for (const statuses of [status?.containerStatuses, status?.initContainerStatuses]) {
    for (const { name, resources, allocatedResources } of statuses ?? []) {
      if (resources === undefined) continue;
      identity += `held ${name} `;
      for (const resource in resources.requests) identity += `${resource}=${resources.requests[resource]},`;
      for (const resource in allocatedResources) identity += `>${resource}=${allocatedResources[resource]},`;
    }
  }
  // A whole pod says what it holds only where it asks for resources as a whole.
  if (status?.resources !== undefined)
    identity += `held ${JSON.stringify([status.resources.requests, status.allocatedResources])}`;
  return identity === '' || !isInfeasible(status) ? identity : `${identity}infeasible`;
}

function isInfeasible(status: PodStatus | undefined): boolean {
  return (
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ?? false
  );
}

/** What decides about a pod's requests, as text; most pods have one container and no more than its requests. */
function requestsIdentity({ containers, initContainers, overhead, resources }: PodSpec): string {
  let identity = '';
  for (const container of containers ?? []) identity += `${containerIdentity(container)}|`;
  for (const container of initContainers ?? []) {
    identity += `init ${container.restartPolicy ?? ''} ${containerIdentity(container)}|`;
  }
  if (overhead !== undefined) identity += `overhead ${JSON.stringify(overhead)}`;
  if (resources !== undefined) identity += `pod ${JSON.stringify(resources)}`;
  return identity;
}

function containerIdentity({ resources }: Container): string {
  if (resources === undefined || resources === null) return '';
  const { requests, limits } = resources;
  let identity = '';
  for (const name in requests) identity += `${name}=${requests[name]},`;
  if (limits !== undefined && limits !== null) for (const name in limits) identity += `<${name}=${limits[name]},`;
  return identity;
}

/** Every pod takes one of these. */
const podSlot = 'pods';

/** By resource name, in the table's units, `pods: 1` included. */
function podRequests(table: ResourceTable, pod: Pod): Amounts {
  const spec = pod.spec ?? {};
  const total = containerRequests(table, spec, pod);
  applyPodLevel(table, pod, total);
  addAll(total, amountsOf(table, spec.overhead));
  total.set(podSlot, 1);
  return total;
}

function containerRequests(table: ResourceTable, spec: PodSpec, pod: Pod): Amounts {
  const infeasible = isInfeasible(pod.status);
  const heldBy = (statuses: ContainerStatus[] | undefined, container: Container): ContainerStatus | undefined =>
    statuses?.find((status) => status.name === container.name);
  const needs = (container: Container, status: ContainerStatus | undefined): Amounts => {
    const wished = requestsOf(table, container.resources);
    if (status?.resources === undefined) return wished;
    const held = amountsOf(table, status.resources.requests);
    raiseTo(held, amountsOf(table, status.allocatedResources));
    if (infeasible) return held;
    raiseTo(wished, held);
    return wished;
  };

  const total: Amounts = new Map();
  for (const container of spec.containers ?? []) {
    addAll(total, needs(container, heldBy(pod.status?.containerStatuses, container)));
  }
  const sidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = needs(container, heldBy(pod.status?.initContainerStatuses, container));
    if (container.restartPolicy === 'Always') {
      addAll(total, own);
      addAll(sidecars, own);
      raiseTo(starting, sidecars);
    } else {
      addAll(own, sidecars);
      raiseTo(starting, own);
    }
  }
  raiseTo(total, starting);
  return total;
}

function applyPodLevel(table: ResourceTable, { spec, status }: Pod, total: Amounts): void {
  const resources = spec?.resources;
  if (resources === undefined) return;
  for (const [name, amount] of podLevelRequests(table, resources, status)) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  for (const [name, amount] of amountsOf(table, resources.limits)) {
    if (isPodLevel(name) && resources.requests?.[name] === undefined && !total.get(name)) total.set(name, amount);
  }
}

/** As of a container: the larger of wish and holding, or the holding alone where a resize cannot come true. */
function podLevelRequests(
  table: ResourceTable,
  { requests }: ResourceRequirements,
  status: PodStatus | undefined,
): Amounts {
  const wished = amountsOf(table, requests);
  if (wished.size === 0 || status?.resources === undefined) return wished;
  const held = amountsOf(table, status.resources.requests);
  raiseTo(held, amountsOf(table, status.allocatedResources));
  if (isInfeasible(status)) return held;
  raiseTo(wished, held);
  return wished;
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function requestsOf(table: ResourceTable, resources: ResourceRequirements | undefined): Amounts {
  const amounts = amountsOf(table, resources?.limits);
  for (const [name, amount] of amountsOf(table, resources?.requests)) amounts.set(name, amount);
  return amounts;
}

function amountsOf(table: ResourceTable, quantities: Readonly<Record<string, string | number>> | undefined): Amounts {
  const amounts: Amounts = new Map();
  for (const name in quantities) amounts.set(name, table.amount(name, quantities[name] as string | number));
  return amounts;
}

function addAll(target: Amounts, more: Amounts): void {
  for (const [name, amount] of more) target.set(name, (target.get(name) ?? 0) + amount);
}

function raiseTo(target: Amounts, floor: Amounts): void {
  for (const [name, amount] of floor) if (amount > (target.get(name) ?? 0)) target.set(name, amount);
}
