// Rules about apiVersion and kind: what was removed, and what old versions did not allow.
import { asList, asMap } from '../../manifests/index.ts';
import type { Hit, Subject } from '../finding.ts';
import type { Rule } from './rule.ts';

/** Versions and kinds that clusters no longer serve, with what replaced them. */
const successors: Readonly<Record<string, string>> = {
  'karpenter.sh/v1beta1 NodePool': 'karpenter.sh/v1',
  'karpenter.sh/v1beta1 NodeClaim': 'karpenter.sh/v1',
  'karpenter.k8s.aws/v1beta1 EC2NodeClass': 'karpenter.k8s.aws/v1',
  'karpenter.sh/v1alpha5 Provisioner': 'karpenter.sh/v1 with kind: NodePool',
  'karpenter.sh/v1alpha5 Machine': 'karpenter.sh/v1 with kind: NodeClaim',
  'karpenter.k8s.aws/v1alpha1 AWSNodeTemplate': 'karpenter.k8s.aws/v1 with kind: EC2NodeClass',
};

const isV1beta1 = ({ version }: Subject): boolean => version === 'v1beta1';

const budgetsOf = ({ value }: Subject): Record<string, unknown>[] =>
  asList(asMap(asMap(value['spec'])['disruption'])['budgets']).map(asMap);

export const versionRules: Rule[] = [
  {
    id: 'M01',
    severity: 'error',
    strict: true,
    wrong:
      '`apiVersion: karpenter.sh/v1beta1` or `karpenter.k8s.aws/v1beta1`; kinds Provisioner, Machine, AWSNodeTemplate',
    why: 'v1beta1 is served only up to Karpenter 1.0, the alpha kinds only up to 0.32.',
    instead: '`karpenter.sh/v1` and `karpenter.k8s.aws/v1`; `kerf convert` rewrites the whole manifest',
    failure: 'crd/removed-api-version',
    *check({ apiVersion, kind }): Generator<Hit> {
      if (!isRemoved(apiVersion, kind)) return;
      const successor = successors[`${apiVersion} ${kind}`] ?? apiVersion.replace(/\/.*/, '/v1');
      yield {
        path: ['apiVersion'],
        message: `${apiVersion} is no longer served: Karpenter 1.1 dropped v1beta1, 0.33 the alpha kinds`,
        fix: `apiVersion: ${successor}  (kerf convert rewrites the whole manifest)`,
      };
    },
  },
  {
    id: 'M13',
    severity: 'warning',
    strict: false,
    wrong: '`consolidateAfter` without a policy in a v1beta1 NodePool',
    why: 'Under v1beta1 the default policy WhenUnderutilized excludes consolidateAfter, so the sample fails even on its own version. In v1 every policy takes it.',
    instead: 'v1, with `consolidationPolicy: WhenEmptyOrUnderutilized` written out',
    failure: 'crd/consolidate-after-not-allowed-v1beta1',
    *check(subject): Generator<Hit> {
      const disruption = asMap(asMap(subject.value['spec'])['disruption']);
      const policy = disruption['consolidationPolicy'];
      if (subject.kind !== 'NodePool' || !isV1beta1(subject) || disruption['consolidateAfter'] === undefined) return;
      // Budget reasons (M15) show that the manifest was written with v1 in mind, where this is allowed.
      if (policy === 'WhenEmpty' || budgetsOf(subject).some((budget) => budget['reasons'] !== undefined)) return;
      yield {
        path: ['spec', 'disruption', 'consolidateAfter'],
        message:
          'v1beta1 refuses consolidateAfter with its default policy WhenUnderutilized, so this fails even on its own version',
        fix: 'in v1: consolidationPolicy: WhenEmptyOrUnderutilized beside consolidateAfter',
      };
    },
  },
  {
    id: 'M15',
    severity: 'warning',
    strict: false,
    wrong: 'budget `reasons` in a v1beta1 NodePool',
    why: 'Budgets have reasons since v1.',
    instead: '`apiVersion: karpenter.sh/v1`',
    *check(subject): Generator<Hit> {
      if (subject.kind !== 'NodePool' || !isV1beta1(subject)) return;
      for (const [index, budget] of budgetsOf(subject).entries()) {
        if (budget['reasons'] === undefined) continue;
        yield {
          path: ['spec', 'disruption', 'budgets', index, 'reasons'],
          message: 'budget reasons do not exist before v1',
          fix: 'apiVersion: karpenter.sh/v1',
        };
      }
    },
  },
  {
    id: 'M28',
    severity: 'error',
    strict: true,
    wrong: '`appVersion: karpenter.sh/v1`',
    why: 'Misspelt `apiVersion`: the object has no version, so no server takes it.',
    instead: '`apiVersion: karpenter.sh/v1`',
    *check({ value }): Generator<Hit> {
      if (value['apiVersion'] !== undefined || typeof value['appVersion'] !== 'string') return;
      yield {
        path: ['appVersion'],
        message: 'appVersion is a misspelling of apiVersion, so the object has no version',
        fix: `apiVersion: ${value['appVersion']}`,
      };
    },
  },
];

/** An old version of a kind that has a newer one; NodeOverlay is still alpha. */
export function isRemoved(apiVersion: string, kind: string): boolean {
  return /^karpenter\.(sh|k8s\.aws)\/v1(alpha|beta)\d+$/.test(apiVersion) && kind !== 'NodeOverlay';
}
