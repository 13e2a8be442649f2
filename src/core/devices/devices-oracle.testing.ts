// A slow and obvious judge of planned devices: tries every way to give devices to the claims of placed pods, for nodes whose
// types are given. Knows nothing of the planner; sizes must be small.
import type { Fields } from './devices.testing.ts';

export const attribute = 'example.com/root';

/** A device as tests draw it. */
export interface DrawnDevice {
  kind: string;
  /** Value of the attribute, if it is known. */
  root: string | undefined;
  /** Shared, with this much memory to give out. */
  memory: number | undefined;
  /** Of the counter of its pool. */
  slots: number;
  /** Of published devices: where they are; undefined is everywhere. */
  zone?: string | undefined;
}

export interface DrawnPool {
  devices: DrawnDevice[];
  slots: number;
  /** Positions of devices that will have the attribute in common. */
  bindings: number[][];
}

export interface DrawnRequest {
  kind: string;
  /** Undefined is all of them. */
  count: number | undefined;
  memory: number | undefined;
}

export interface DrawnClaim {
  requests: DrawnRequest[];
  isCommon: boolean;
}

/** A node of the plan with the type it became. */
export interface OracleNode {
  zones: readonly string[];
  pool: DrawnPool;
}

export interface OracleClaim extends DrawnClaim {
  /** Where its pods are. */
  nodes: readonly number[];
}

export const poolFields = ({ devices, slots }: DrawnPool): { devices: Fields[]; counters: Fields[] } => ({
  devices: devices.map((own, at) => ({
    name: `d${at}`,
    attributes: {
      kind: { string: own.kind },
      ...(own.root === undefined ? {} : { [attribute]: { string: own.root } }),
    },
    ...(own.memory === undefined
      ? {}
      : { allowMultipleAllocations: true, capacity: { memory: { value: String(own.memory) } } }),
    ...(own.slots === 0
      ? {}
      : { consumesCounters: [{ counterSet: 'all', counters: { slots: { value: String(own.slots) } } }] }),
  })),
  counters: [{ name: 'all', counters: { slots: { value: String(slots) } } }],
});

interface Candidate {
  readonly own: DrawnDevice;
  readonly pool: DrawnPool;
  readonly position: number;
  /** Undefined for published devices. */
  readonly node: number | undefined;
}

interface Slot {
  readonly claim: number;
  readonly request: DrawnRequest;
  readonly only: Candidate | undefined;
  /** The slot before is of the same request: devices are taken in one order. */
  readonly isAlike: boolean;
}

/** Whether all claims can have their devices at once. */
export function canAllocate(
  published: DrawnPool,
  nodes: readonly OracleNode[],
  claims: readonly OracleClaim[],
): boolean {
  const candidates: Candidate[] = [
    ...published.devices.map((own, position) => ({ own, pool: published, position, node: undefined })),
    ...nodes.flatMap(({ pool }, node) => pool.devices.map((own, position) => ({ own, pool, position, node }))),
  ];
  const slots: Slot[] = [];
  for (const [claim, { requests, nodes: homes }] of claims.entries()) {
    let wanted = 0;
    for (const request of requests) {
      if (request.count !== undefined) {
        for (let at = 0; at < request.count; at++) slots.push({ claim, request, only: undefined, isAlike: at > 0 });
        wanted += request.count;
        continue;
      }
      const all = candidates.filter((own) => isVisible(own, homes, nodes) && own.own.kind === request.kind);
      if (all.length === 0) return false;
      wanted += all.length;
      for (const only of all) slots.push({ claim, request, only, isAlike: false });
    }
    if (wanted > 32) return false;
  }
  return fill(slots, candidates, nodes, claims, []);
}

interface Given {
  readonly slot: Slot;
  readonly device: Candidate;
  readonly memory: number;
}

function fill(
  slots: readonly Slot[],
  candidates: readonly Candidate[],
  nodes: readonly OracleNode[],
  claims: readonly OracleClaim[],
  given: readonly Given[],
): boolean {
  const slot = slots[given.length];
  if (slot === undefined) return true;
  const before = given.at(-1)?.device;
  for (const device of slot.only === undefined ? candidates : [slot.only]) {
    if (slot.isAlike && before !== undefined && candidates.indexOf(device) < candidates.indexOf(before)) continue;
    const memory = slot.request.memory ?? device.own.memory ?? 0;
    const next = [...given, { slot, device, memory }];
    if (isValid(next, nodes, claims) && fill(slots, candidates, nodes, claims, next)) return true;
  }
  return false;
}

/** Every rule, for all that is given out so far. */
function isValid(given: readonly Given[], nodes: readonly OracleNode[], claims: readonly OracleClaim[]): boolean {
  for (const { slot, device } of given) {
    const { nodes: homes } = claims[slot.claim] as OracleClaim;
    if (device.own.kind !== slot.request.kind) return false;
    if (slot.request.memory !== undefined && device.own.memory === undefined) return false;
    if (device.node !== undefined && homes.some((home) => home !== device.node)) return false;
    const { zone } = device.own;
    if (zone !== undefined && homes.some((home) => nodes[home]?.zones.some((own) => own !== zone))) return false;
    const same = given.filter((other) => other.device === device);
    if (device.own.memory === undefined && same.length > 1) return false;
    if (device.own.memory !== undefined && same.reduce((sum, other) => sum + other.memory, 0) > device.own.memory)
      return false;
    const inPool = new Set(
      given
        .filter((other) => other.device.pool === device.pool && other.device.node === device.node)
        .map((o) => o.device),
    );
    if ([...inPool].reduce((sum, { own }) => sum + own.slots, 0) > device.pool.slots) return false;
  }
  return claims.every(
    ({ isCommon }, claim) => !isCommon || haveInCommon(given.filter(({ slot }) => slot.claim === claim)),
  );
}

function haveInCommon(given: readonly Given[]): boolean {
  const known = given.map(({ device }) => device.own.root);
  const [first] = given;
  if (first === undefined) return true;
  if (known.every((root) => root !== undefined)) return known.every((root) => root === known[0]);
  // What is published tells no bindings.
  if (known.some((root) => root !== undefined) || first.device.node === undefined) return false;
  return given.every(({ device }) => device.node === first.device.node && areBound(first.device, device));
}

/** There is a way from one to the other over bindings; alone a device must be bound to something. */
function areBound(from: Candidate, to: Candidate): boolean {
  const bindings = from.pool.bindings.filter((own) => own.length > 1);
  const reached = new Set([from.position]);
  for (let round = 0; round < bindings.length; round++) {
    for (const own of bindings) if (own.some((at) => reached.has(at))) for (const at of own) reached.add(at);
  }
  return bindings.some((own) => own.includes(from.position)) && reached.has(to.position);
}

function isVisible(device: Candidate, homes: readonly number[], nodes: readonly OracleNode[]): boolean {
  if (device.node !== undefined) return homes.includes(device.node);
  const { zone } = device.own;
  return zone === undefined || homes.some((home) => nodes[home]?.zones.includes(zone));
}
