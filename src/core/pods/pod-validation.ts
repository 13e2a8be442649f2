// Pods that are never considered, whatever the cluster looks like: broken or forbidden selectors, unusable volumes, or an
// explicit wish not to run on nodes of any NodePool. Each keeps its reason; the others are planned without them.

import { label } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { NodeSelectorTerm, Pod } from '../kube/objects.ts';
import type { Reason } from '../plan.ts';
import { type LabelRules, requirementErrors } from '../requirements/label-rules.ts';
import { operatorOf } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { type VolumeSupport, volumeError } from '../volumes/pod-volumes.ts';

export interface ValidationContext {
  readonly objects: ClusterObjects;
  readonly rules: LabelRules;
  readonly volumeSupport: VolumeSupport;
}

/** Judges pods; what only depends on their selectors is judged once per distinct selector. */
export class PodValidator {
  private readonly context: ValidationContext;
  private readonly wishedBy: (pod: Pod) => RequirementSet;
  private readonly known = new Map<string, { readonly optedOut: boolean; readonly errors: readonly string[] }>();

  /** `wishedBy` gives a pod's requirements with its heaviest preference, which may opt out as well. */
  constructor(context: ValidationContext, wishedBy: (pod: Pod) => RequirementSet) {
    this.context = context;
    this.wishedBy = wishedBy;
  }

  invalidity(pod: Pod): Reason | undefined {
    const { optedOut, errors: fromSelectors } = this.selectorVerdict(pod);
    if (optedOut) {
      return {
        code: 'PodOptedOut',
        message: `configured to not run on a Karpenter provisioned node (requirement=${label.nodePool} DoesNotExist)`,
        suggestion: `remove the requirement ${label.nodePool} DoesNotExist from the pod if it may run on nodes of a NodePool`,
      };
    }
    const fromVolumes = volumeError(this.context.objects, this.context.volumeSupport, pod);
    const errors = fromVolumes === undefined ? fromSelectors : [...fromSelectors, fromVolumes];
    if (errors.length === 0) return undefined;
    return {
      code: 'PodInvalid',
      message: errors.join('; '),
      suggestion:
        fromSelectors.length === 0
          ? 'repair the volume claim named above, or remove the volume from the pod'
          : "change the pod's nodeSelector or required node affinity to labels a node can have",
    };
  }

  private selectorVerdict(pod: Pod): { readonly optedOut: boolean; readonly errors: readonly string[] } {
    const { nodeSelector, affinity } = pod.spec ?? {};
    if (nodeSelector === undefined && affinity?.nodeAffinity === undefined) return nothingWrong;
    const identity = JSON.stringify([nodeSelector, affinity?.nodeAffinity]);
    let verdict = this.known.get(identity);
    if (verdict === undefined) {
      const pool = this.wishedBy(pod).byKey.get(label.nodePool);
      verdict = {
        optedOut: pool !== undefined && operatorOf(pool) === 'DoesNotExist',
        errors: selectorErrors(this.context.rules, pod),
      };
      this.known.set(identity, verdict);
    }
    return verdict;
  }
}

const nothingWrong = { optedOut: false, errors: [] };

function selectorErrors(rules: LabelRules, pod: Pod): string[] {
  const errors: string[] = [];
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    errors.push(...requirementErrors(rules, { key, operator: 'In', values: [value] }));
  }
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const term of required?.nodeSelectorTerms ?? []) errors.push(...termErrors(rules, term));
  return errors;
}

function termErrors(rules: LabelRules, term: NodeSelectorTerm): string[] {
  const errors = (term.matchExpressions ?? []).flatMap((spec) => requirementErrors(rules, spec));
  if (term.matchFields) errors.unshift('node selector term with matchFields is not supported');
  return errors;
}
