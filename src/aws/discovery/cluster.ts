// What nodes must know to join, found once at start: the API server's address and authority, the cluster's DNS and IP
// family, the range of its services. Whatever a setting says is not asked for.
import { DescribeInstanceTypesCommand, type EC2Client } from '@aws-sdk/client-ec2';
import { type Cluster, DescribeClusterCommand, type EKSClient } from '@aws-sdk/client-eks';
import { KerfError, messageOf } from '../../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type Log, type Resource } from '../../ports/index.ts';
import { isAwsAnswer } from '../aws-errors.ts';

type Service = KubeObject & { spec?: { clusterIP?: string } };
const services: Resource<Service> = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
};

const configMaps: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

/** ConfigMap kube-system/aws-auth, by which nodes may be known; undefined when there is none. */
export async function findAwsAuth(kube: Pick<Kube, 'get'>): Promise<KubeObject | undefined> {
  try {
    return await kube.get(configMaps, { namespace: 'kube-system', name: 'aws-auth' });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** True of a process that runs; one that cannot start does not look again. */
const laterHope = /;[^;]*at the next call, no restart is needed/;

/**
 * Credentials, region and network in one question: a dry run that would have worked is refused with DryRunOperation.
 * Where EC2 refuses otherwise, `who` tells as whom we asked.
 */
export async function checkEc2(ec2: EC2Client, who?: () => Promise<string | undefined>): Promise<void> {
  let caller: string | undefined;
  let answer = 'the dry run was not recognised';
  try {
    await ec2.send(new DescribeInstanceTypesCommand({ DryRun: true }));
  } catch (error) {
    if (error instanceof Error && error.name === 'DryRunOperation') return;
    answer = `${error instanceof Error ? `${error.name}: ` : ''}${messageOf(error)}`.replace(laterHope, '');
    if (isAwsAnswer(error)) caller = await who?.();
  }
  const asWhom = caller === undefined ? '' : ` as ${caller}`;
  throw new KerfError(
    'Ec2Unreachable',
    `cannot work with EC2${asWhom}: DescribeInstanceTypes answered: ${answer}; check the region, the credentials, ec2:DescribeInstanceTypes and the way to the EC2 endpoint`,
    { retryable: true },
  );
}

export interface EksCluster {
  describe(): Promise<Cluster>;
}

/** DescribeCluster, asked as often as needed. */
export function eksCluster(eks: EKSClient, name: string): EksCluster {
  return {
    async describe() {
      try {
        const { cluster } = await eks.send(new DescribeClusterCommand({ name }));
        if (cluster === undefined) throw new Error('the answer has no cluster');
        return cluster;
      } catch (error) {
        throw new KerfError(
          'ClusterUnknown',
          `cannot describe EKS cluster ${name}: ${error instanceof Error ? `${error.name}: ` : ''}${messageOf(error)}; check --cluster-name and the region, and allow eks:DescribeCluster`,
          { cause: error, retryable: true },
        );
      }
    },
  };
}

export async function findEndpoint(setting: string, cluster: EksCluster): Promise<string> {
  if (setting !== '') return setting;
  const { endpoint, name } = await cluster.describe();
  if (endpoint === undefined || endpoint === '')
    throw new KerfError('ClusterUnknown', `EKS knows no endpoint of cluster ${name}; set --cluster-endpoint`);
  return endpoint;
}

/** Base64; undefined when neither a setting nor our own connection names an authority. */
export function findCaBundle(setting: string, ownAuthority: string | undefined): string | undefined {
  if (setting !== '') return setting;
  return ownAuthority === undefined ? undefined : Buffer.from(ownAuthority).toString('base64');
}

export interface ClusterDns {
  address?: string;
  ipFamily: 'ipv4' | 'ipv6';
}

/** A cluster without kube-dns is not a mistake: kubelets then keep their own idea of it. */
export async function findClusterDns(kube: Kube, log: Log): Promise<ClusterDns> {
  try {
    const { spec } = await kube.get(services, { namespace: 'kube-system', name: 'kube-dns' });
    const address = spec?.clusterIP;
    if (!address || address === 'None') return { ipFamily: 'ipv4' };
    return { address, ipFamily: address.includes(':') ? 'ipv6' : 'ipv4' };
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) log.error('cannot look up Service kube-system/kube-dns', error);
    return { ipFamily: 'ipv4' };
  }
}

/** The range of services, of IPv4 if there is one. */
export async function findServiceCidr(cluster: EksCluster): Promise<string | undefined> {
  const { kubernetesNetworkConfig: network } = await cluster.describe();
  return network?.serviceIpv4Cidr ?? network?.serviceIpv6Cidr;
}
