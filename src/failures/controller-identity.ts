// Who the controller is to AWS: its service account, and the role that account or its association names.
import type { Evidence } from './evidence.ts';
import { controllerDeployments, controllerPods, podSpecOf } from './facts.ts';
import { type Plain, textAt } from './fields.ts';
import { policyOf } from './iam-policy.ts';
import { annotationsOf, type Stored } from './objects.ts';

export interface ControllerIdentity {
  workload: Stored;
  namespace: string;
  account: string;
  serviceAccount: Stored | undefined;
  /** `system:serviceaccount:kube-system:karpenter`. */
  subject: string;
  /** ARN in the annotation of the service account; empty when there is none. */
  roleArn: string;
}

export function controllerIdentity(evidence: Evidence): ControllerIdentity | undefined {
  const workload = controllerDeployments(evidence)[0] ?? controllerPods(evidence)[0];
  if (workload === undefined) return undefined;
  const spec = podSpecOf(workload);
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount') || 'default';
  const { namespace } = workload;
  const serviceAccount = evidence.objects.find('ServiceAccount', account, namespace);
  const annotations = serviceAccount === undefined ? {} : annotationsOf(serviceAccount.object);
  return {
    workload,
    namespace,
    account,
    serviceAccount,
    subject: `system:serviceaccount:${namespace}:${account}`,
    roleArn: textAt(annotations, 'eks.amazonaws.com/role-arn'),
  };
}

export interface Described {
  role: string;
  arn: string;
  trust: Plain | undefined;
  source: string;
}

/** A role as `iam get-role` describes it, by name or ARN. */
export function describedRole({ aws }: Evidence, nameOrArn: string): Described | undefined {
  const name = nameOrArn.split('/').at(-1) ?? nameOrArn;
  const found = aws.bodies('iam-get-role').find(({ item }) => textAt(item, 'RoleName') === name);
  if (found === undefined) return undefined;
  return {
    role: name,
    arn: textAt(found.item, 'Arn'),
    trust: policyOf(found.item['AssumeRolePolicyDocument']),
    source: found.source,
  };
}

/** Host and id of the cluster's issuer, without the scheme; undefined when unknown. */
export function issuerOf({ aws }: Evidence): string | undefined {
  for (const { item } of aws.bodies('eks-describe-cluster')) {
    const issuer = textAt(item, 'identity', 'oidc', 'issuer');
    if (issuer !== '') return issuer.replace(/^https:\/\//, '');
  }
  return undefined;
}
