// Eviction: a deletion that asks the pod's disruption budget first.
import { type JsonObject, listAt, objectAt, stringAt, thaw } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { ResourceDefinition } from '../definition.ts';
import { get, type Machinery } from '../machinery.ts';
import { labelSelectorMatcher } from '../selectors.ts';
import { forbidden, StatusError } from '../status.ts';
import { type DeleteCall, remove } from './delete.ts';

/** Evictions a budget remembers until it sees the pods go. */
const disruptedPodsLimit = 2_000;
const retrySeconds = 10;
const budgets = 'poddisruptionbudgets.policy';

export function evict(
  machinery: Machinery,
  pods: ResourceDefinition,
  namespace: string,
  name: string,
  call: DeleteCall,
): void {
  const pod = get(machinery, pods, namespace, name);
  if (!ignoresBudgets(pod)) askBudget(machinery, pod, call.dryRun === true);
  remove(machinery, pods, namespace, name, call);
}

/** Pods that do not run cannot be missed. */
function ignoresBudgets(pod: StoredObject): boolean {
  const phase = stringAt(objectAt(pod, 'status'), 'phase');
  return (
    pod.metadata.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
  );
}

const isReady = (pod: StoredObject): boolean =>
  listAt(objectAt(pod, 'status'), 'conditions').some(
    (condition) => condition['type'] === 'Ready' && condition['status'] === 'True',
  );

function askBudget(machinery: Machinery, pod: StoredObject, dryRun: boolean): void {
  const matching = [...machinery.around.list(budgets, pod.metadata.namespace)].filter((budget) =>
    labelSelectorMatcher(objectAt(budget, 'spec')['selector'])(pod.metadata.labels),
  );
  const [budget] = matching;
  if (budget === undefined) return;
  if (matching.length > 1) {
    throw new StatusError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const status = objectAt(budget, 'status');
  if (!isReady(pod)) {
    if (objectAt(budget, 'spec')['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return;
    if (Number(status['currentHealthy']) >= Number(status['desiredHealthy']) && Number(status['desiredHealthy']) > 0)
      return;
  }
  spend(machinery, budget, pod, dryRun);
}

function spend(machinery: Machinery, budget: StoredObject, pod: StoredObject, dryRun: boolean): void {
  const { name } = budget.metadata;
  const status = objectAt(budget, 'status');
  const subject = { group: 'policy', plural: 'poddisruptionbudgets', kind: 'PodDisruptionBudget' };
  if (Number(status['observedGeneration'] ?? 0) < Number(budget.metadata.generation ?? 0)) {
    throw wouldViolate(`The disruption budget ${name} is still being processed by the server.`);
  }
  const allowed = Number(status['disruptionsAllowed'] ?? 0);
  if (allowed < 0) throw forbidden(subject, name, 'pdb disruptions allowed is negative');
  const disrupted = objectAt(status, 'disruptedPods');
  if (Object.keys(disrupted).length > disruptedPodsLimit) {
    throw forbidden(subject, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) {
    throw wouldViolate(
      `The disruption budget ${name} needs ${Number(status['desiredHealthy'] ?? 0)} healthy pods and has ${Number(status['currentHealthy'] ?? 0)} currently`,
    );
  }
  if (dryRun) return;
  const draft = thaw(budget) as JsonObject;
  draft['status'] = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [pod.metadata.name]: machinery.around.timestamp() },
  };
  machinery.store.put(budgets, draft);
}

const wouldViolate = (message: string): StatusError =>
  new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(message.endsWith('server.') && { retryAfterSeconds: retrySeconds }),
  });
