// Starts the aws provider: who we are, where the cluster is, what nodes must know, and the parts that do the work. Whatever
// is missing here ends the process with an error that says what to change, before anything is launched.
import { type EC2NodeClass } from '../../api/index.ts';
import {
  type AwsClients,
  callerOf,
  checkEc2,
  createAwsClients,
  createAwsProvider,
  type EksCluster,
  ec2NodeClasses,
  eksCluster,
  FollowedZonalShifts,
  findAwsAuth,
  findCaBundle,
  findClusterDns,
  findEndpoint,
  findServiceCidr,
  KubernetesVersion,
  lookAtAccount,
  type NodeFacts,
  noZonalShifts,
  type ZonalShifts,
} from '../../aws/index.ts';
import {
  lostCapacityOf,
  machineControllersOf,
  nodeClassControllersOf,
  replacingRebalanced,
} from '../../aws-controllers/index.ts';
import { KerfError } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import type { Provider, ProviderTools } from '../controller-process.ts';
import { overlayPrices } from './overlay-prices.ts';
import type { AwsProviderOptions } from './provider.ts';

export async function startAws(options: AwsProviderOptions, tools: ProviderTools): Promise<Provider> {
  const { aws, settings, env, version: ownVersion } = options;
  const { clock, log, metrics, recorder } = tools;
  const clients = await createAwsClients({
    clock,
    metrics,
    env,
    version: ownVersion,
    mayWrite: () => tools.mayWrite(),
  });
  await checkEc2(clients.ec2, () => callerOf(clients.sts));
  void callerOf(clients.sts).then((caller) =>
    log.info('discovered identity', { caller: caller ?? 'STS does not say' }),
  );
  const cluster = eksCluster(clients.eks, aws.clusterName);
  const facts = await nodeFacts(options, tools, cluster);
  const version = new KubernetesVersion(versionSource(options, tools, cluster), log);
  await version.refresh();
  const shifts = aws.enableZonalShift ? await followShifts(clients, cluster, tools) : noZonalShifts;
  log.info('discovered cluster', {
    region: clients.region,
    cluster: aws.clusterName,
    'cluster-endpoint': facts.endpoint,
    'kube-dns-ip': facts.dnsIp,
    'kubernetes-version': version.current,
  });
  let context: ControllerContext | undefined;
  const nodeClassOf = (name: string): EC2NodeClass | undefined => context?.cacheOf(ec2NodeClasses).get(name);
  const provider = await createAwsProvider({
    clients,
    clock,
    log,
    metrics,
    recorder,
    settings: {
      ...aws,
      minValuesPolicy: settings.minValuesPolicy,
      reservedCapacity: settings.featureGates['ReservedCapacity'] === true,
      kubeletExpressions: aws.awsFeatureGates['NodeClassCEL'] === true,
      devices: {
        nvidia: aws.awsFeatureGates['DRANVIDIAGPU'] === true,
        efa: aws.awsFeatureGates['DRAEFA'] === true,
      },
      reboots: aws.awsFeatureGates['RebootForRepair'] === true,
    },
    cluster: facts,
    shifts,
    kubernetesVersion: () => version.current,
    nodeClassOf,
    pricedByOverlay: overlayPrices(clock, () => context),
    awsAuth: () => findAwsAuth(tools.kube),
  });
  await provider.types.refresh();
  return {
    cloud:
      aws.spotRebalancePolicy === 'Replace'
        ? replacingRebalanced(provider.cloud, lostCapacityOf(provider))
        : provider.cloud,
    prepare: (signal) => takeOver(provider.templates, tools, signal),
    controllers: (given) => {
      context = given;
      return [
        ...nodeClassControllersOf(given, {
          ...provider,
          launchTemplates: provider.templates,
          caBundle: facts.caBundle ?? '',
          isolatedVpc: aws.isolatedVpc,
          launchChecks: {
            clusterName: aws.clusterName,
            interruptionQueue: aws.interruptionQueue,
            look: (names) =>
              lookAtAccount(
                {
                  clients,
                  clock,
                  isolatedVpc: aws.isolatedVpc,
                  takenAddresses: (id) => provider.addresses.takenOf(id),
                },
                names,
              ),
            awsAuth: () => findAwsAuth(tools.kube),
            kubernetesVersion: () => version.current,
            caller: () => callerOf(clients.sts),
          },
          validation: {
            checks: provider.launchChecks,
            disableDryRun: aws.disableDryRun,
            instanceTypes: (nodeClass) => provider.types.listInSlices(nodeClass),
            ...(aws.awsFeatureGates['NodeClassCEL'] === true
              ? { expressionProblem: (nodeClass) => provider.types.expressionProblem(nodeClass) }
              : {}),
            async serviceCidr() {
              await facts.resolveServiceCidr();
              return facts.serviceCidr;
            },
          },
        }),
        ...machineControllersOf(given, { clients, provider, settings: aws, version, shifts }),
      ];
    },
  };
}

async function nodeFacts(
  { aws, ownAuthority }: AwsProviderOptions,
  { kube, log }: ProviderTools,
  cluster: EksCluster,
): Promise<NodeFacts> {
  const [endpoint, dns] = await Promise.all([findEndpoint(aws.clusterEndpoint, cluster), findClusterDns(kube, log)]);
  const facts: NodeFacts = {
    name: aws.clusterName,
    endpoint,
    caBundle: findCaBundle(aws.clusterCaBundle, ownAuthority),
    dnsIp: dns.address,
    ipFamily: dns.ipFamily,
    async resolveServiceCidr() {
      facts.serviceCidr ??= await findServiceCidr(cluster);
    },
  };
  return facts;
}

function versionSource(
  { aws }: AwsProviderOptions,
  { serverVersion }: ProviderTools,
  cluster: EksCluster,
): () => Promise<string> {
  return aws.eksControlPlane ? async () => (await cluster.describe()).version ?? '' : serverVersion;
}

async function followShifts(clients: AwsClients, cluster: EksCluster, { clock }: ProviderTools): Promise<ZonalShifts> {
  const { arn, name } = await cluster.describe();
  if (arn === undefined) throw new KerfError('ClusterUnknown', `EKS gave no ARN for cluster ${name}`);
  const shifts = new FollowedZonalShifts(clock, () => clients.zonalShift.appliedShifts(arn));
  await shifts.refresh();
  return shifts;
}

const takeOverAgainMs = 30_000;

/** Templates of an earlier process end with ours only if we know them; EC2 may be out of reach when we start. */
async function takeOver(
  templates: { hydrate(): Promise<void> },
  { clock, log }: ProviderTools,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await templates.hydrate();
    } catch (error) {
      log.error('cannot take over launch templates yet', error, { retryInMs: takeOverAgainMs });
    }
    await clock.sleep(takeOverAgainMs, signal).catch(() => undefined);
  }
}
