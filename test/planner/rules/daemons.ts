// DaemonSets as overhead: one representative pod each, and on which templates and machines it would run.
import { label } from '../../../src/api/index.ts';
import type { InstanceType, Template } from './catalogue.ts';
import type { Cluster, Machine } from './cluster.ts';
import type { DaemonSet, Pod, PodSpec, Toleration } from './objects.ts';
import {
  type HostPort,
  hostPorts,
  isDaemon,
  isTerminal,
  needsDevices,
  podRequests,
  requiredTerms,
  termRequirements,
} from './pods.ts';
import { type Amounts, minus, plus } from './quantity.ts';
import { both, conflict, fromLabels, incompatible, oneOf, type Requirements } from './requirement.ts';
import { untolerated } from './selector.ts';

export interface Daemon {
  name: string;
  spec: PodSpec;
  requests: Amounts;
  ports: HostPort[];
}

const anyPreferNoSchedule: Toleration = { operator: 'Exists', effect: 'PreferNoSchedule' };

export function daemonsOf(cluster: Cluster): Daemon[] {
  return cluster.daemonSets
    .map((set) => ({ set, spec: representative(set, cluster) }))
    .filter(({ spec }) => !(cluster.settings.ignoreDRARequests && needsDevices(spec)))
    .map(({ set, spec }) => ({
      name: `${set.metadata.namespace ?? 'default'}/${set.metadata.name}`,
      spec,
      requests: podRequests(spec),
      ports: hostPorts(spec),
    }));
}

/** The newest existing pod with the template's own required affinity, else the template. */
function representative(set: DaemonSet, cluster: Cluster): PodSpec {
  const template = set.spec.template.spec;
  const own = cluster.pods
    .filter((pod) => isDaemon(pod) && ownerUid(pod) === set.metadata.uid)
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))[0];
  if (own === undefined) return template;
  const { nodeAffinity, ...otherAffinity } = own.spec.affinity ?? {};
  const required = template.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const { requiredDuringSchedulingIgnoredDuringExecution: pinned, ...preferences } = nodeAffinity ?? {};
  void pinned;
  const spec: PodSpec = {
    ...own.spec,
    affinity: {
      ...otherAffinity,
      nodeAffinity: {
        ...preferences,
        ...(required === undefined ? {} : { requiredDuringSchedulingIgnoredDuringExecution: required }),
      },
    },
  };
  delete spec.nodeName;
  return spec;
}

const ownerUid = (pod: Pod): string | undefined =>
  (pod.metadata.ownerReferences ?? []).find((owner) => owner.kind === 'DaemonSet')?.uid;

function alternatives(spec: PodSpec, cluster: Cluster): Requirements[] {
  const selector = fromLabels(spec.nodeSelector ?? {}, cluster.spelling);
  const terms = requiredTerms(spec);
  if (terms.length === 0) return [selector];
  return terms.map((term) => both(selector, termRequirements(term, cluster.spelling)));
}

/** Daemons that will run on a new node of this template and type. */
export function daemonsOnType(daemons: Daemon[], template: Template, type: InstanceType, cluster: Cluster): Daemon[] {
  return daemons.filter(({ spec }) => {
    if (untolerated(template.taints, [...(spec.tolerations ?? []), anyPreferNoSchedule]) !== undefined) return false;
    return alternatives(spec, cluster).some(
      (wanted) =>
        incompatible(template.requirements, wanted, cluster.wellKnown) === undefined &&
        conflict(type.requirements, wanted) === undefined,
    );
  });
}

/** Room to keep on a machine for daemons that will come but are not there yet. */
export function expectedDaemons(daemons: Daemon[], machine: Machine, cluster: Cluster): Amounts {
  const labels = both(
    fromLabels(machine.labels, cluster.spelling),
    new Map([[label.hostname, oneOf(label.hostname, [machine.hostname])]]),
  );
  const due = daemons.filter(({ spec }) => {
    if (untolerated(machine.taints, [...(spec.tolerations ?? []), anyPreferNoSchedule]) !== undefined) return false;
    return alternatives(spec, cluster).some((wanted) => incompatible(labels, wanted, new Set()) === undefined);
  });
  const there = machine.pods.filter((pod) => isDaemon(pod) && !isTerminal(pod)).map((pod) => podRequests(pod.spec));
  const open = minus(plus(...due.map((daemon) => daemon.requests)), plus(...there));
  return new Map([...open].map(([name, value]) => [name, value < 0n ? 0n : value]));
}
