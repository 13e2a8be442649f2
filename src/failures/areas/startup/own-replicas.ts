// Replicas of the controller that wait: how many there are, and how many nodes outside the autoscaler could take one.
import type { Evidence } from '../../evidence.ts';
import { controllerDeployments, controllerPods, podSpecOf, refusedPods } from '../../facts.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';

export interface OwnReplicas {
  deployment: Stored;
  waiting: Stored[];
  running: Stored[];
  /** Nodes that no autoscaler manages; undefined when nodes were not collected. */
  systemNodes: Stored[] | undefined;
  /** Of those, the nodes with the labels that the pods select. */
  matching: Stored[];
  selector: Readonly<Record<string, string>>;
}

export function ownReplicas(evidence: Evidence): OwnReplicas | undefined {
  const deployment = controllerDeployments(evidence)[0];
  if (deployment === undefined) return undefined;
  const own = controllerPods(evidence);
  const waiting = refusedPods(evidence).filter((pod) => own.includes(pod));
  const running = own.filter(({ object }) => textAt(object, 'status', 'phase') === 'Running');
  const systemNodes = evidence.objects.isCollected('Node')
    ? evidence.objects.of('Node').filter(({ object }) => textAt(labelsOf(object), poolLabel) === '')
    : undefined;
  const selector = selectorOf(podSpecOf(deployment));
  const matching = (systemNodes ?? []).filter(({ object }) =>
    Object.entries(selector).every(([key, value]) => textAt(labelsOf(object), key) === value),
  );
  return { deployment, waiting, running, systemNodes, matching, selector };
}

/** The node selector without what every Linux node has. */
function selectorOf(spec: unknown): Record<string, string> {
  const selector = mapAt(spec, 'nodeSelector');
  return Object.fromEntries(
    Object.entries(selector).flatMap(([key, value]) => (key === 'kubernetes.io/os' ? [] : [[key, String(value)]])),
  );
}

/** Required anti-affinity by host: one replica per node. */
export function needsOneNodeEach(spec: unknown): boolean {
  return listAt(spec, 'affinity', 'podAntiAffinity', 'requiredDuringSchedulingIgnoredDuringExecution').some(
    (term) => textAt(term, 'topologyKey') === 'kubernetes.io/hostname',
  );
}
