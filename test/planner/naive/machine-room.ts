// An existing machine during naive planning: may this pod go there, and what is left after it does.
import { label } from '../../../src/api/index.ts';
import type { Cluster, Machine } from '../rules/cluster.ts';
import { type Daemon, expectedDaemons } from '../rules/daemons.ts';
import type { Pod, PodSpec } from '../rules/objects.ts';
import { type HostPort, hostPorts, podRequests, portsConflict } from '../rules/pods.ts';
import { type Amounts, minus, misfit, plus } from '../rules/quantity.ts';
import { both, fromLabels, incompatible, oneOf, type Requirements } from '../rules/requirement.ts';
import { untolerated } from '../rules/selector.ts';
import { attachments } from '../rules/volumes.ts';
import type { Asking } from './asking.ts';
import type { Topology } from './topology.ts';

export class MachineRoom {
  readonly machine: Machine;
  readonly pods: Pod[] = [];
  private readonly cluster: Cluster;
  private readonly limits: Map<string, number>;
  private readonly attached = new Map<string, Set<string>>();
  private left: Amounts;
  private ports: HostPort[];
  /** Its labels. They do not change with the pods it takes: a node has a label or it has not. */
  private readonly requirements: Requirements;

  constructor(machine: Machine, daemons: Daemon[], cluster: Cluster) {
    this.machine = machine;
    this.cluster = cluster;
    const used = plus(...machine.pods.map((pod) => podRequests(pod.spec)));
    this.left = minus(minus(machine.allocatable, used), expectedDaemons(daemons, machine, cluster));
    this.ports = machine.pods.flatMap((pod) => hostPorts(pod.spec));
    this.requirements = both(
      fromLabels(machine.labels, cluster.spelling),
      new Map([[label.hostname, oneOf(label.hostname, [machine.hostname])]]),
    );
    const csi = cluster.csiNodes.find((node) => node.metadata.name === machine.node?.metadata.name);
    this.limits = new Map(
      (csi?.spec.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count]],
      ),
    );
    for (const pod of machine.pods) this.attach(pod, pod.spec);
  }

  private attach(pod: Pod, spec: PodSpec): void {
    for (const [driver, claims] of attachments({ ...pod, spec }, this.cluster)) {
      this.attached.set(driver, new Set([...(this.attached.get(driver) ?? []), ...claims]));
    }
  }

  /** Places the pod and tells so, or leaves everything as it was. */
  take(asking: Asking, topology: Topology): boolean {
    const { pod, spec } = asking;
    if (untolerated(this.machine.taints, spec.tolerations) !== undefined) return false;
    for (const [driver, claims] of attachments(pod, this.cluster)) {
      const limit = this.limits.get(driver);
      const all = new Set([...(this.attached.get(driver) ?? []), ...claims]);
      if (limit !== undefined && all.size > limit) return false;
    }
    if (portsConflict(hostPorts(spec), this.ports)) return false;
    if (misfit(asking.requests, this.left) !== undefined) return false;
    if (incompatible(this.requirements, asking.requirements, new Set()) !== undefined) return false;
    const base = both(this.requirements, asking.requirements);
    for (const volumes of asking.volumes) {
      if (incompatible(base, volumes, new Set()) !== undefined) continue;
      const where = { requirements: both(base, volumes), taints: this.machine.taints };
      const answer = topology.narrow(pod, asking.strict, where);
      // What the pod does not mind the node lacking is not thereby there.
      if ('refused' in answer || incompatible(this.requirements, answer.narrowed, new Set()) !== undefined) continue;
      this.left = minus(this.left, asking.requests);
      this.ports.push(...hostPorts(spec));
      this.attach(pod, spec);
      this.pods.push(pod);
      topology.record(pod, { requirements: answer.narrowed, taints: this.machine.taints });
      return true;
    }
    return false;
  }
}
