// Remembers what claims that are not launched yet were made for, so that one slow launch holds back only its own pods:
// those pods have a place already, and the pool's limits already count the largest machine the claim may become.
// In memory only: a claim this process did not make is not in the ledger.
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../base/index.ts';
import type { InstanceTypeSpec, ResourceQuantities } from '../core/index.ts';
import { LaunchPace } from './launch-pace.ts';

interface Entry {
  pool: string;
  pods: readonly string[];
  capacity: ReadonlyMap<string, Quantity>;
}

export class LaunchLedger {
  private readonly entries = new Map<string, Entry>();
  /** How fast more may follow. */
  readonly pace = new LaunchPace();
  /** Room for claims that are being written right now. */
  private readonly holds = new Set<Entry>();

  get size(): number {
    return this.entries.size;
  }

  /** Names of the claims, as a copy: settling while going through them is fine. */
  claims(): string[] {
    return [...this.entries.keys()];
  }

  /** The pods the claim was made for; undefined if the claim is not in the ledger. */
  podsOf(claim: string): readonly string[] | undefined {
    return this.entries.get(claim)?.pods;
  }

  /** `pods` as `namespace/name`; `types` are the ones the claim may be launched as. */
  add(claim: string, pool: string, pods: readonly string[], types: readonly InstanceTypeSpec[]): void {
    this.entries.set(claim, { pool, pods, capacity: largest(types) });
  }

  /** Counts a claim that has no name yet; the result ends that. */
  hold(pool: string, types: readonly InstanceTypeSpec[]): () => void {
    const entry: Entry = { pool, pods: [], capacity: largest(types) };
    this.holds.add(entry);
    return () => void this.holds.delete(entry);
  }

  /** The claim was launched, or is gone. */
  settle(claim: string): void {
    this.pace.settle(claim);
    this.entries.delete(claim);
  }

  placedPods(): Set<string> {
    const pods = new Set<string>();
    for (const entry of this.entries.values()) for (const pod of entry.pods) pods.add(pod);
    return pods;
  }

  /** What launching claims of the pool may use of its limits, or undefined if there is none. */
  heldBack(pool: string): ResourceQuantities | undefined {
    const total = new Map<string, Quantity>();
    let claims = 0;
    for (const entry of [...this.entries.values(), ...this.holds]) {
      if (entry.pool !== pool) continue;
      claims += 1;
      for (const [name, amount] of entry.capacity) {
        const sum = total.get(name);
        total.set(name, sum === undefined ? amount : addQuantities(sum, amount));
      }
    }
    if (claims === 0) return undefined;
    const quantities: ResourceQuantities = { nodes: String(claims) };
    for (const [name, amount] of total) quantities[name] = formatQuantity(amount);
    return quantities;
  }
}

/** The most of each resource that any of the types has. */
export function largestOf(types: readonly InstanceTypeSpec[]): ResourceQuantities {
  return Object.fromEntries([...largest(types)].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Parsed once per type: a burst asks about the whole catalogue for every claim. */
const capacities = new WeakMap<InstanceTypeSpec, readonly (readonly [string, Quantity])[]>();

function capacityOf(type: InstanceTypeSpec): readonly (readonly [string, Quantity])[] {
  let capacity = capacities.get(type);
  if (capacity === undefined) {
    capacity = Object.entries(type.capacity).map(([name, text]) => [name, parseQuantity(text)] as const);
    capacities.set(type, capacity);
  }
  return capacity;
}

/** The same list is asked about when its room is looked for, taken and kept. */
const largests = new WeakMap<readonly InstanceTypeSpec[], ReadonlyMap<string, Quantity>>();

function largest(types: readonly InstanceTypeSpec[]): ReadonlyMap<string, Quantity> {
  let capacity = largests.get(types);
  if (capacity === undefined) {
    capacity = computeLargest(types);
    largests.set(types, capacity);
  }
  return capacity;
}

function computeLargest(types: readonly InstanceTypeSpec[]): Map<string, Quantity> {
  const capacity = new Map<string, Quantity>();
  for (const type of types) {
    for (const [name, amount] of capacityOf(type)) {
      const most = capacity.get(name);
      if (most === undefined || compareQuantities(amount, most) > 0) capacity.set(name, amount);
    }
  }
  return capacity;
}
