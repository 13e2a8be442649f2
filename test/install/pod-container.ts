// One container of a pod as a process: the image's root, its volumes, its variables as Kubernetes computes them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseQuantity, quantityIn } from '../../src/base/index.ts';
import { type ImageConfig, inRoot, type Mount } from '../release/image-root.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { freePort } from '../setup/free-port.ts';

export interface PodObject {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
  };
  spec: {
    nodeName?: string;
    serviceAccountName?: string;
    terminationGracePeriodSeconds?: number;
    containers: ContainerSpec[];
    volumes?: Volume[];
  };
  status?: { phase?: string };
}

interface ContainerSpec {
  name: string;
  image: string;
  args?: string[];
  env?: Variable[];
  ports?: { name?: string; containerPort: number }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}

export interface Probe {
  httpGet?: { path: string; port: string | number };
  initialDelaySeconds?: number;
}

interface Variable {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { fieldPath: string };
    resourceFieldRef?: { resource: string; divisor?: string };
  };
}

interface Volume {
  name: string;
  projected?: { sources: ProjectedSource[] };
}

interface ProjectedSource {
  serviceAccountToken?: { path: string; expirationSeconds?: number };
  configMap?: { name: string; items?: { key: string; path: string }[] };
  downwardAPI?: { items: { path: string; fieldRef: { fieldPath: string } }[] };
}

export interface PreparedContainer {
  program: string;
  args: string[];
  /** Where a port of the container really is: pods of one machine share its network here. */
  portOf(port: string | number): number;
}

/** Of the node: what a container without limits sees. */
const nodeResources: Record<string, number> = { 'limits.memory': 8 * 2 ** 30, 'limits.cpu': 4 };

export async function prepare(
  cluster: ControlPlane,
  pod: PodObject,
  image: { root: string; config: ImageConfig },
  folder: string,
): Promise<PreparedContainer> {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error(`pod ${pod.metadata.name} has no container`);
  const ports = new Map<number, number>();
  for (const { containerPort } of container.ports ?? []) ports.set(containerPort, await freePort());
  const root = join(folder, 'root');
  // Hard links: the content is that of the image, the folders are this container's.
  execFileSync('cp', ['-al', image.root, root]);
  const mounts = await volumesOf(cluster, pod, container, folder);
  const api = new URL(cluster.url);
  const env: Record<string, string> = {
    ...Object.fromEntries(image.config.config.Env.map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string])),
    HOSTNAME: pod.metadata.name,
    KUBERNETES_SERVICE_HOST: api.hostname,
    KUBERNETES_SERVICE_PORT: api.port,
  };
  for (const variable of container.env ?? []) env[variable.name] = valueOf(variable, pod, container);
  for (const name of ['METRICS_PORT', 'HEALTH_PROBE_PORT']) {
    const moved = ports.get(Number(env[name]));
    if (moved !== undefined) env[name] = String(moved);
  }
  const argv = [...image.config.config.Entrypoint, ...(container.args ?? image.config.config.Cmd)];
  return {
    ...inRoot({ root, argv, env, mounts }),
    portOf(port) {
      const named = container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
      return ports.get(named) ?? named;
    },
  };
}

function valueOf({ value = '', valueFrom }: Variable, pod: PodObject, { resources = {} }: ContainerSpec): string {
  if (valueFrom?.fieldRef !== undefined) return fieldOf(pod, valueFrom.fieldRef.fieldPath);
  const field = valueFrom?.resourceFieldRef;
  if (field === undefined) return value;
  const [kind = '', name = ''] = field.resource.split('.');
  const given = resources[kind as 'requests' | 'limits']?.[name];
  const amount = given === undefined ? (nodeResources[field.resource] ?? 0) : amountOf(given);
  const divisor = field.divisor === undefined || field.divisor === '0' ? 1 : amountOf(field.divisor);
  return String(Math.ceil(amount / divisor));
}

const amountOf = (text: string): number => quantityIn('milli', parseQuantity(text)) / 1000;

function fieldOf({ metadata }: PodObject, path: string): string {
  const value = {
    'metadata.namespace': metadata.namespace,
    'metadata.name': metadata.name,
    'metadata.uid': metadata.uid,
  }[path];
  if (value === undefined) throw new Error(`the test kubelet does not know the field ${path}`);
  return value;
}

/** Projected volumes that the container mounts, filled as a kubelet fills them: with a token of the pod's own. */
async function volumesOf(
  cluster: ControlPlane,
  pod: PodObject,
  container: ContainerSpec,
  folder: string,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const sources = pod.spec.volumes?.find((volume) => volume.name === name)?.projected?.sources;
    if (sources === undefined) continue;
    const from = join(folder, 'volumes', name);
    mkdirSync(from, { recursive: true });
    for (const source of sources) {
      for (const [path, content] of await filesOf(cluster, pod, source))
        writeFileSync(join(from, path), content, { mode: 0o644 });
    }
    mounts.push({ from, at: mountPath });
  }
  return mounts;
}

async function filesOf(cluster: ControlPlane, pod: PodObject, source: ProjectedSource): Promise<[string, string][]> {
  const { namespace, name, uid } = pod.metadata;
  const inNamespace = `/api/v1/namespaces/${namespace}`;
  if (source.serviceAccountToken !== undefined) {
    const path = `${inNamespace}/serviceaccounts/${pod.spec.serviceAccountName}/token`;
    const spec = {
      expirationSeconds: source.serviceAccountToken.expirationSeconds ?? 3600,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
    };
    const { status, body } = await cluster.request('POST', path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec,
    });
    if (status !== 201) throw new Error(`no token for ${name}: ${JSON.stringify(body)}`);
    return [[source.serviceAccountToken.path, (body as { status: { token: string } }).status.token]];
  }
  if (source.configMap !== undefined) {
    const { body } = await cluster.request('GET', `${inNamespace}/configmaps/${source.configMap.name}`);
    const { data = {} } = body as { data?: Record<string, string> };
    return (source.configMap.items ?? []).map(({ key, path }) => [path, data[key] ?? '']);
  }
  return (source.downwardAPI?.items ?? []).map(({ path, fieldRef }) => [path, fieldOf(pod, fieldRef.fieldPath)]);
}
