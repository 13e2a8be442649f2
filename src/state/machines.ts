// Joins Nodes and NodeClaims into machines. Rules:
// 1. A machine is keyed by provider id; a Node without one is keyed by its name if it is unmanaged, and ignored if it
//    carries a NodePool label (its provider id will come).
// 2. A managed Node that is not initialized is ignored until it carries an instance-type label.
// 3. A changed provider id moves the object to another machine; a machine with neither side left is gone.
// 4. A claim without a provider id is remembered by name only: it is launching.
// 5. Of several Nodes with one provider id, or several claims, one counts: the Node that the claim names, else the first that
//    came. A kubelet may write any provider id when it joins: that does not put its Node in the place of another.

import type { NodeClaim } from '../api/index.ts';
import { label } from '../api/names.ts';
import type { KubeObject, Node } from '../ports/index.ts';
import type { Machine } from './machine.ts';

export class Machines {
  private readonly byKey = new Map<string, Machine>();
  private readonly keyOfNode = new Map<string, string>();
  private readonly keyOfClaim = new Map<string, string>();
  private readonly launchingClaims = new Map<string, NodeClaim>();
  /** By provider id, those that do not count because of another one. */
  private readonly otherNodes = new Others<Node>();
  private readonly otherClaims = new Others<NodeClaim>();

  all(): Iterable<Machine> {
    return this.byKey.values();
  }

  get size(): number {
    return this.byKey.size;
  }

  get(key: string): Machine | undefined {
    return this.byKey.get(key);
  }

  ofNode(name: string): Machine | undefined {
    return this.byKey.get(this.keyOfNode.get(name) ?? '');
  }

  ofClaim(name: string): Machine | undefined {
    return this.byKey.get(this.keyOfClaim.get(name) ?? '');
  }

  /** Claims that have no provider id yet. */
  launching(): Iterable<NodeClaim> {
    return this.launchingClaims.values();
  }

  get launchingCount(): number {
    return this.launchingClaims.size;
  }

  tracksClaim(name: string): boolean {
    return this.keyOfClaim.has(name) || this.launchingClaims.has(name);
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    const key = keyOfNode(node);
    const before = this.keyOfNode.get(name);
    if (before !== undefined && before !== key) this.removeNode(name);
    if (key === undefined) return;
    this.keyOfNode.set(name, key);
    const machine = this.machine(key);
    if (machine.node === undefined || machine.node.metadata.name === name) machine.node = node;
    else this.otherNodes.set(key, node);
    this.preferNamed(machine);
  }

  removeNode(name: string): void {
    const key = this.keyOfNode.get(name);
    this.keyOfNode.delete(name);
    const machine = this.byKey.get(key ?? '');
    if (machine === undefined) return;
    if (machine.node?.metadata.name !== name) return this.otherNodes.remove(machine.key, name);
    machine.node = this.otherNodes.takeFirst(machine.key);
    this.dropIfEmpty(machine);
  }

  setClaim(claim: NodeClaim): void {
    const name = claim.metadata.name ?? '';
    const key = claim.status?.providerID;
    const before = this.keyOfClaim.get(name);
    if (before !== undefined && before !== key) this.removeClaim(name);
    if (key === undefined || key === '') {
      this.launchingClaims.set(name, claim);
      return;
    }
    this.launchingClaims.delete(name);
    this.keyOfClaim.set(name, key);
    const machine = this.machine(key);
    if (machine.claim === undefined || machine.claim.metadata.name === name) machine.claim = claim;
    else this.otherClaims.set(key, claim);
    this.preferNamed(machine);
  }

  removeClaim(name: string): void {
    this.launchingClaims.delete(name);
    const key = this.keyOfClaim.get(name);
    this.keyOfClaim.delete(name);
    const machine = this.byKey.get(key ?? '');
    if (machine === undefined) return;
    if (machine.claim?.metadata.name !== name) return this.otherClaims.remove(machine.key, name);
    machine.claim = this.otherClaims.takeFirst(machine.key);
    this.preferNamed(machine);
    this.dropIfEmpty(machine);
  }

  private preferNamed(machine: Machine): void {
    const named = machine.claim?.status?.nodeName;
    if (named === undefined || machine.node === undefined || machine.node.metadata.name === named) return;
    const preferred = this.otherNodes.take(machine.key, named);
    if (preferred === undefined) return;
    this.otherNodes.set(machine.key, machine.node);
    machine.node = preferred;
  }

  private machine(key: string): Machine {
    let machine = this.byKey.get(key);
    if (machine === undefined) {
      machine = { key, node: undefined, claim: undefined, marked: false, nominatedUntilMs: 0 };
      this.byKey.set(key, machine);
    }
    return machine;
  }

  private dropIfEmpty(machine: Machine): void {
    if (machine.node === undefined && machine.claim === undefined) this.byKey.delete(machine.key);
  }
}

/** By key and name, in the order in which they came; empty but for mistakes and lies. */
class Others<T extends KubeObject> {
  private readonly byKey = new Map<string, Map<string, T>>();

  set(key: string, object: T): void {
    const others = this.byKey.get(key) ?? new Map<string, T>();
    this.byKey.set(key, others.set(object.metadata.name ?? '', object));
  }

  remove(key: string, name: string): void {
    const others = this.byKey.get(key);
    if (others?.delete(name) === true && others.size === 0) this.byKey.delete(key);
  }

  take(key: string, name: string): T | undefined {
    const object = this.byKey.get(key)?.get(name);
    this.remove(key, name);
    return object;
  }

  takeFirst(key: string): T | undefined {
    const [name] = this.byKey.get(key)?.keys() ?? [];
    return name === undefined ? undefined : this.take(key, name);
  }
}

function keyOfNode(node: Node): string | undefined {
  const labels = node.metadata.labels ?? {};
  const managed = labels[label.nodePool] !== undefined;
  if (managed && labels[label.initialized] !== 'true' && !labels[label.instanceType]) return undefined;
  const providerID = node.spec?.providerID;
  if (providerID !== undefined && providerID !== '') return providerID;
  return managed ? undefined : node.metadata.name;
}
