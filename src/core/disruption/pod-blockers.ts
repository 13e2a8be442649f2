// Pods that keep their node: by saying so, or because a PodDisruptionBudget will not let them be evicted now.

import { selectorMatch } from '../kube/label-selector.ts';
import { type Labels, namespacedKey, namespaceOf, type Pod, type PodDisruptionBudget } from '../kube/objects.ts';
import { isActive, isDoNotDisruptActive, isDrained } from '../pods/pod-classes.ts';

export interface PodBlocker {
  readonly code: 'PodDoNotDisrupt' | 'PodBudgets' | 'PodBudgetExhausted';
  readonly message: string;
  readonly pod: string;
}

interface Budget {
  readonly key: string;
  matches(labels: Labels): boolean;
  readonly allowed: number;
  readonly allowsUnhealthy: boolean;
}

export class PodBlockers {
  private readonly byNamespace = new Map<string, Budget[]>();
  private readonly nowMs: number;

  constructor(budgets: readonly PodDisruptionBudget[], nowMs: number) {
    this.nowMs = nowMs;
    for (const budget of budgets) {
      const namespace = budget.metadata.namespace ?? 'default';
      const compiled: Budget = {
        key: namespacedKey(budget.metadata),
        matches: selectorMatch(budget.spec?.selector),
        allowed: budget.status?.disruptionsAllowed ?? 0,
        allowsUnhealthy: budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow',
      };
      const list = this.byNamespace.get(namespace);
      if (list === undefined) this.byNamespace.set(namespace, [compiled]);
      else list.push(compiled);
    }
  }

  /** Every pod that blocks, those with the annotation first; one that has both is named for both. */
  *of(pods: readonly Pod[]): Generator<PodBlocker> {
    for (const pod of pods) {
      if (!isActive(pod) || !isDoNotDisruptActive(pod, this.nowMs)) continue;
      const key = namespacedKey(pod.metadata);
      yield {
        code: 'PodDoNotDisrupt',
        message: `pod has "karpenter.sh/do-not-disrupt" annotation (Pod=${key})`,
        pod: key,
      };
    }
    if (this.byNamespace.size === 0) return;
    for (const pod of pods) {
      const blocker = this.budgetBlocker(pod);
      if (blocker !== undefined) yield blocker;
    }
  }

  private budgetBlocker(pod: Pod): PodBlocker | undefined {
    const budgets = this.byNamespace.get(namespaceOf(pod));
    if (budgets === undefined || !isDrained(pod)) return undefined;
    const matching = budgets.filter((budget) => budget.matches(pod.metadata.labels ?? {}));
    const [budget] = matching;
    const key = namespacedKey(pod.metadata);
    const names = matching.map((each) => each.key).join(' ');
    if (matching.length > 1) {
      const message = `eviction does not support multiple PDBs (PodDisruptionBudget(s)=[${names}])`;
      return { code: 'PodBudgets', message, pod: key };
    }
    if (budget === undefined || budget.allowed > 0 || (budget.allowsUnhealthy && isUnready(pod))) return undefined;
    return {
      code: 'PodBudgetExhausted',
      message: `pdb prevents pod evictions (PodDisruptionBudget=[${names}])`,
      pod: key,
    };
  }
}

function isUnready(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') ?? false;
}
