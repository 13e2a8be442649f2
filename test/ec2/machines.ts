// Machines of the emulated EC2: every running instance boots as its user data tells it, joins as a Node and is played by
// the simulated kubelets; one that EC2 ends stops reporting.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  type EC2Client,
  type Instance,
} from '@aws-sdk/client-ec2';
import { parseAllDocuments } from 'yaml';
import { kwokNode } from '../../src/api/index.ts';
import { builtInCatalogue } from '../../src/aws/catalogue.ts';
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { isKubeError, type Kube, type Node, resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { startFakeKubelets } from '../../src/sim/index.ts';

export interface Machines {
  stop(): Promise<void>;
  /** Instances that joined so far. */
  joined: Set<string>;
}

export async function startMachines(ec2: EC2Client, kubeconfig: string): Promise<Machines> {
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig });
  const kube = new KubeClient({ access, clock, userAgent: 'machines', rateLimit: { qps: 200, burst: 300 } });
  const kubelets = startFakeKubelets(kube, clock, { startMs: { least: 10, most: 50 }, onFailure: () => {} });
  const joined = new Set<string>();
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await step(ec2, kube, joined).catch((error: unknown) => {
        if (!stop.signal.aborted) console.error('machines:', error);
      });
      await sleep(500, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    joined,
    async stop() {
      stop.abort();
      await running;
      await kubelets.stop();
    },
  };
}

async function step(ec2: EC2Client, kube: Kube, joined: Set<string>): Promise<void> {
  const { Reservations = [] } = await ec2.send(
    new DescribeInstancesCommand({ Filters: [{ Name: 'instance-state-name', Values: ['running'] }] }),
  );
  const alive = Reservations.flatMap(({ Instances = [] }) => Instances);
  for (const instance of alive) {
    const id = instance.InstanceId ?? '';
    if (joined.has(id) || !instance.Tags?.some(({ Key }) => Key === 'karpenter.sh/nodepool')) continue;
    joined.add(id);
    await join(ec2, kube, instance);
  }
}

async function join(ec2: EC2Client, kube: Kube, instance: Instance): Promise<void> {
  const { InstanceId = '', InstanceType = '', PrivateDnsName = InstanceId, Placement } = instance;
  const { UserData } = await ec2.send(new DescribeInstanceAttributeCommand({ InstanceId, Attribute: 'userData' }));
  const { labels, taints } = bootSettings(Buffer.from(UserData?.Value ?? '', 'base64').toString());
  const type = await typeOf(InstanceType);
  const node: Node = {
    metadata: {
      name: PrivateDnsName,
      labels: {
        ...labels,
        'kubernetes.io/hostname': PrivateDnsName,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': type.arch,
        'node.kubernetes.io/instance-type': InstanceType,
        'topology.kubernetes.io/zone': Placement?.AvailabilityZone ?? '',
        'topology.kubernetes.io/region': (Placement?.AvailabilityZone ?? '').slice(0, -1),
      },
      annotations: { [kwokNode.label]: kwokNode.value },
    },
    spec: { providerID: `aws:///${Placement?.AvailabilityZone}/${InstanceId}`, taints },
    // As a kubelet registers; what it keeps for itself is left out here.
    status: { capacity: type.capacity, allocatable: type.capacity },
  };
  try {
    await kube.create(resources.nodes, node);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}

interface BootSettings {
  labels: Record<string, string>;
  taints: { key: string; value?: string; effect: string }[];
}

/** What nodeadm would make of the user data: the NodeConfig in its MIME parts. */
export function bootSettings(userData: string): BootSettings {
  const labels: Record<string, string> = {};
  const taints: BootSettings['taints'] = [];
  for (const part of userData.split(/^--\S+\s*$/m).filter((text) => text.includes('kind: NodeConfig'))) {
    for (const document of parseAllDocuments(part.slice(part.search(/^---|^apiVersion:|^kind:/m)))) {
      const { spec } = document.toJS() as {
        spec?: { kubelet?: { flags?: string[]; config?: Record<string, unknown> } };
      };
      const flag = spec?.kubelet?.flags?.find((each) => each.startsWith('--node-labels='));
      for (const pair of (flag?.slice('--node-labels='.length) ?? '').replaceAll('"', '').split(',')) {
        const [key, value = ''] = pair.split('=');
        if (key) labels[key] = value;
      }
      taints.push(...((spec?.kubelet?.config?.['registerWithTaints'] ?? []) as BootSettings['taints']));
    }
  }
  return { labels, taints };
}

const catalogue = builtInCatalogue({ region: 'us-east-1' });

async function typeOf(name: string): Promise<{ arch: string; capacity: Record<string, string> }> {
  const type = (await catalogue).instanceTypes().find((each) => each.name === name);
  if (type === undefined) throw new Error(`no instance type ${name}`);
  const arch = type.requirements.find(({ key }) => key === 'kubernetes.io/arch')?.values?.[0] ?? 'amd64';
  return { arch, capacity: type.capacity as Record<string, string> };
}
