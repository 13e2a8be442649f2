// Says whether a machine, its claim or its Node was given up by mistake. Works from what reaches the cloud and the API
// server, against what is really stored at that moment; nothing of the program under test is asked.
//
// 1. No machine is terminated that a stored claim names, unless that claim is being deleted.
// 2. No Node is deleted whose machine a stored claim names, unless that claim is being deleted.
// 3. No claim whose machine runs is deleted but by its owner, in histories that give no other reason.
// 4. At most one replica writes at a time, to the API server and to the cloud.
import type { NodeClaim } from '../../../src/api/index.ts';
import type { Clock } from '../../../src/base/index.ts';
import type { Kube, KubeObject, Node, Resource } from '../../../src/ports/index.ts';
import { Tally } from '../../campaigns/tally.ts';

export interface Truth {
  clock: Clock;
  claims(): NodeClaim[];
  nodes(): Node[];
  isRunning(providerID: string): boolean;
  /** The pool's own rules end nodes, too: by disruption and expiry. */
  hasReasons: boolean;
}

export class Judge {
  readonly violations: string[] = [];
  readonly tally = new Tally();
  private readonly truth: Truth;
  private lastWriter = '';
  private readonly ended = new Set<string>();

  constructor(truth: Truth) {
    this.truth = truth;
  }

  /** Between a replica and the API server: looks at its writes. */
  between(replica: string, kube: Kube): Kube {
    const wrote = (): void => this.wrote(replica);
    return {
      get: (resource, ref, options) => kube.get(resource, ref, options),
      list: (resource, options) => kube.list(resource, options),
      watch: (resource, options) => kube.watch(resource, options),
      create: (resource, object, options) => {
        if (resource.plural !== 'leases') wrote();
        return kube.create(resource, object, options);
      },
      replace: (resource, object, options) => {
        if (resource.plural !== 'leases') wrote();
        return kube.replace(resource, object, options);
      },
      patch: (resource, ref, patch, options) => {
        wrote();
        return kube.patch(resource, ref, patch, options);
      },
      delete: (resource, ref, options) => {
        wrote();
        this.deletes(replica, resource, ref.name);
        return kube.delete(resource, ref, options);
      },
      evict: (ref, options) => {
        wrote();
        return kube.evict(ref, options);
      },
      bind: (ref, node, options) => kube.bind(ref, node, options),
    };
  }

  terminates(replica: string, providerID: string): void {
    this.tally.add('terminations judged');
    this.wrote(replica);
    for (const claim of this.liveClaimsOf(providerID))
      this.object(`${replica} terminates ${providerID}, which NodeClaim ${claim.metadata.name} names`);
  }

  private deletes(replica: string, resource: Resource<KubeObject>, name: string): void {
    if (resource.plural === 'nodes') {
      this.tally.add('Node deletions judged');
      const node = this.truth.nodes().find(({ metadata }) => metadata.name === name);
      if (node === undefined || node.metadata.deletionTimestamp !== undefined) return;
      for (const claim of this.liveClaimsOf(node.spec?.providerID ?? ''))
        this.object(`${replica} deletes Node ${name}, whose machine NodeClaim ${claim.metadata.name} names`);
    }
    if (resource.plural === 'nodeclaims') {
      this.tally.add('NodeClaim deletions judged');
      const claim = this.truth.claims().find(({ metadata }) => metadata.name === name);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
      if (!this.truth.hasReasons && this.truth.isRunning(claim.status?.providerID ?? ''))
        this.object(`${replica} deletes NodeClaim ${name} without a reason`);
    }
  }

  /** Replicas have a name per process: once another has written, an earlier one's term is over. */
  private wrote(replica: string): void {
    this.tally.add('writes judged');
    if (this.ended.has(replica)) this.object(`${replica} writes after the term of another began`);
    else if (this.lastWriter !== '' && this.lastWriter !== replica) this.ended.add(this.lastWriter);
    this.lastWriter = replica;
  }

  private liveClaimsOf(providerID: string): NodeClaim[] {
    return this.truth
      .claims()
      .filter(({ metadata, status }) => status?.providerID === providerID && metadata.deletionTimestamp === undefined);
  }

  private object(what: string): void {
    this.violations.push(`${new Date(this.truth.clock.now()).toISOString().slice(11, 23)} ${what}`);
  }
}
