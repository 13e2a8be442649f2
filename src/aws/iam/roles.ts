// Who may use the two roles: EC2 instances the node role, the controller's service account its own.
import { type ClusterAccount, nodeRoleName } from './account.ts';
import type { PolicyDocument } from './controller-policies.ts';

/** What a node needs: to join, to give pods addresses, to pull images, and to be looked at when something is wrong. */
export const nodePolicies = [
  'AmazonEKS_CNI_Policy',
  'AmazonEKSWorkerNodePolicy',
  'AmazonEC2ContainerRegistryPullOnly',
  'AmazonSSMManagedInstanceCore',
] as const;

export const managedPolicyArn = ({ partition }: ClusterAccount, name: string): string =>
  `arn:${partition}:iam::aws:policy/${name}`;

export const nodeRoleArn = ({ partition, account, cluster }: ClusterAccount): string =>
  `arn:${partition}:iam::${account}:role/${nodeRoleName(cluster)}`;

export function nodeTrust({ dnsSuffix }: ClusterAccount): PolicyDocument {
  return trust({ Service: `ec2.${dnsSuffix}` }, ['sts:AssumeRole']);
}

export interface ServiceAccount {
  namespace: string;
  name: string;
}

/** EKS Pod Identity: which service account, an association of the cluster says. */
export function podIdentityTrust(): PolicyDocument {
  return trust({ Service: 'pods.eks.amazonaws.com' }, ['sts:AssumeRole', 'sts:TagSession']);
}

/** IAM roles for service accounts: the token's issuer, audience and subject must all match. */
export function webIdentityTrust(
  { partition, account }: ClusterAccount,
  issuer: string,
  { namespace, name }: ServiceAccount,
): PolicyDocument {
  const host = issuer.replace(/^https:\/\//, '').replace(/\/$/, '');
  return trust(
    { Federated: `arn:${partition}:iam::${account}:oidc-provider/${host}` },
    ['sts:AssumeRoleWithWebIdentity'],
    {
      StringEquals: {
        [`${host}:aud`]: 'sts.amazonaws.com',
        [`${host}:sub`]: `system:serviceaccount:${namespace}:${name}`,
      },
    },
  );
}

function trust(
  Principal: Record<string, string>,
  Action: string[],
  Condition?: Record<string, Record<string, string>>,
): PolicyDocument {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'AllowAssumingRole',
        Effect: 'Allow',
        Principal,
        Action,
        ...(Condition === undefined ? {} : { Condition }),
      },
    ],
  };
}
