// The cluster's API as an outsider uses it: plain requests of an administrator, nothing of the program under test.
import type { NodeClaim, NodePool } from '../../../src/api/index.ts';
import { type KubeObject, type Resource, resources } from '../../../src/ports/index.ts';
import type { ApiAnswer, ControlPlane } from '../../setup/control-plane.ts';

interface Event extends KubeObject {
  type: string;
  reason: string;
  message: string;
  source?: { component?: string };
  involvedObject: { kind: string; name: string; namespace?: string; uid?: string };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** An object of which tests look at conditions and little else. */
interface Conditioned extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown> & { conditions?: Condition[] };
}

const kind = <T extends KubeObject>(
  group: string,
  version: string,
  plural: string,
  name: string,
  namespaced: boolean,
): Resource<T> => ({ group, version, plural, kind: name, namespaced });

export const all = {
  ...resources,
  nodePools: kind<NodePool>('karpenter.sh', 'v1', 'nodepools', 'NodePool', false),
  nodeClaims: kind<NodeClaim>('karpenter.sh', 'v1', 'nodeclaims', 'NodeClaim', false),
  nodeOverlays: kind<Conditioned>('karpenter.sh', 'v1alpha1', 'nodeoverlays', 'NodeOverlay', false),
  nodeClasses: kind<Conditioned>('karpenter.kwok.sh', 'v1alpha1', 'kwoknodeclasses', 'KWOKNodeClass', false),
  buffers: kind<Conditioned>('autoscaling.x-k8s.io', 'v1beta1', 'capacitybuffers', 'CapacityBuffer', true),
  events: kind<Event>('', 'v1', 'events', 'Event', true),
  limitRanges: kind<KubeObject>('', 'v1', 'limitranges', 'LimitRange', true),
  priorityClasses: kind<KubeObject>('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', false),
  runtimeClasses: kind<KubeObject>('node.k8s.io', 'v1', 'runtimeclasses', 'RuntimeClass', false),
} as const;

/** What a test writes; the API server completes it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  [field: string]: unknown;
}

interface ListOptions {
  namespace?: string;
  labels?: string;
  fields?: string;
}

interface PatchOptions {
  namespace?: string;
  subresource?: string;
  type?: 'merge' | 'strategic' | 'json';
}

const resourceOf = new Map<string, Resource>(Object.values(all).map((resource) => [resource.kind, resource]));

export class Api {
  private readonly cluster: () => ControlPlane;

  constructor(cluster: () => ControlPlane) {
    this.cluster = cluster;
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
    const query = new URLSearchParams({
      ...(options.labels === undefined ? {} : { labelSelector: options.labels }),
      ...(options.fields === undefined ? {} : { fieldSelector: options.fields }),
    });
    const { items } = (await this.ask('GET', `${pathOf(resource, options.namespace)}?${query}`)) as { items: T[] };
    return items;
  }

  async get<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T> {
    return (await this.ask('GET', `${pathOf(resource, namespace)}/${name}`)) as T;
  }

  async find<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> {
    const answer = await this.cluster().request('GET', `${pathOf(resource, namespace)}/${name}`);
    return answer.status === 404 ? undefined : (bodyOf(answer, `GET ${resource.plural} ${name}`) as T);
  }

  /** Creates or changes each, as `kubectl apply --server-side` does. */
  async apply(...manifests: Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      const resource = resourceOf.get(manifest.kind);
      if (resource === undefined) throw new Error(`test/end-to-end/harness/api.ts lists no kind ${manifest.kind}`);
      const path = `${pathOf(resource, manifest.metadata.namespace)}/${manifest.metadata.name}`;
      const query = '?fieldManager=end-to-end&force=true';
      await this.ask('PATCH', path + query, manifest, 'application/apply-patch+yaml');
    }
  }

  /** The answer whatever it is: for what should be refused. */
  tryCreate(manifest: Manifest): Promise<ApiAnswer> {
    const resource = resourceOf.get(manifest.kind);
    if (resource === undefined) throw new Error(`test/end-to-end/harness/api.ts lists no kind ${manifest.kind}`);
    return this.cluster().request('POST', pathOf(resource, manifest.metadata.namespace), manifest);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    body: object,
    { namespace, subresource, type = 'merge' }: PatchOptions = {},
  ): Promise<T> {
    const contentType = {
      merge: 'application/merge-patch+json',
      strategic: 'application/strategic-merge-patch+json',
      json: 'application/json-patch+json',
    }[type];
    const path = `${pathOf(resource, namespace)}/${name}${subresource === undefined ? '' : `/${subresource}`}`;
    return (await this.ask('PATCH', path, body, contentType)) as T;
  }

  /** Background deletion; something already gone is fine. */
  async remove(resource: Resource, name: string, namespace?: string, options: object = {}): Promise<void> {
    const path = `${pathOf(resource, namespace)}/${name}`;
    const answer = await this.cluster().request('DELETE', path, { propagationPolicy: 'Background', ...options });
    if (answer.status !== 404) bodyOf(answer, `DELETE ${resource.plural} ${name}`);
  }

  /** Standard output of kubectl. */
  async kubectl(...args: string[]): Promise<string> {
    return (await this.cluster().kubectl(args)).stdout;
  }

  private async ask(method: string, path: string, body?: unknown, contentType?: string): Promise<unknown> {
    return bodyOf(await this.cluster().request(method, path, body, contentType), `${method} ${path}`);
  }
}

function pathOf({ group, version, plural, namespaced }: Resource, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced && namespace !== undefined ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

function bodyOf({ status, body }: ApiAnswer, asked: string): unknown {
  if (status < 300) return body;
  throw new Error(`${asked} was answered ${status}: ${(body as { message?: string }).message ?? JSON.stringify(body)}`);
}

/** Any object that may carry conditions; the published types of statuses differ too much to name more. */
export const conditionsOf = (object: unknown): Condition[] =>
  (object as { status?: { conditions?: Condition[] } } | undefined)?.status?.conditions ?? [];

export const conditionOf = (object: unknown, type: string): Condition | undefined =>
  conditionsOf(object).find((each) => each.type === type);
