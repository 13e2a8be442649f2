// What preflight looks at: the objects of a live cluster, or of files. A kind that may not be read, or that the cluster
// does not have, is remembered: what was not looked at is never said to be fine.
import { awsGroup, group, kwokGroup } from '../../api/names.ts';
import { KerfError } from '../../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type Resource, resources } from '../../ports/index.ts';
import { expectKubernetes } from '../kubernetes-answers.ts';
import { asList, asMap, readManifests } from '../manifests/index.ts';

export interface PreflightObject extends KubeObject {
  kind: string;
  apiVersion: string;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface PreflightInput {
  objects: PreflightObject[];
  /** Base64 of the cluster's certificate authority, as far as it is known. */
  caBundles: string[];
  notChecked: string[];
  /** Asks the API server whether a user may do something; absent where there is no server. */
  mayDo?: (user: string, right: AskedRight) => Promise<boolean | undefined>;
}

export interface AskedRight {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
  namespace?: string;
  name?: string;
}

const own = (kind: string, plural: string, ofGroup: string, version: string): Resource => ({
  group: ofGroup,
  version,
  plural,
  kind,
  namespaced: false,
});

const definitions = own('CustomResourceDefinition', 'customresourcedefinitions', 'apiextensions.k8s.io', 'v1');
const reviews = own('SubjectAccessReview', 'subjectaccessreviews', 'authorization.k8s.io', 'v1');

const wanted: readonly Resource[] = [
  own('NodePool', 'nodepools', group, 'v1'),
  own('NodeClaim', 'nodeclaims', group, 'v1'),
  own('NodeOverlay', 'nodeoverlays', group, 'v1alpha1'),
  own('EC2NodeClass', 'ec2nodeclasses', awsGroup, 'v1'),
  own('KWOKNodeClass', 'kwoknodeclasses', kwokGroup, 'v1alpha1'),
  definitions,
  resources.deployments,
  resources.leases,
];

/** Without these there is nothing to judge. */
const essential: readonly string[] = ['nodepools', 'nodeclaims'];
const pageSize = 500;

export async function readCluster(kube: Pick<Kube, 'list' | 'create'>): Promise<PreflightInput> {
  const objects: PreflightObject[] = [];
  const notChecked: string[] = [];
  await expectKubernetes(kube);
  for (const resource of wanted) {
    try {
      objects.push(...(await listed(kube, resource)));
    } catch (error) {
      // Kinds of the other provider are simply not there.
      if (isKubeError(error, 'NotFound') && !essential.includes(resource.plural)) continue;
      if (isKubeError(error, 'NotFound')) throw withoutKarpenter(resource, error);
      if (!isKubeError(error, 'Forbidden') || essential.includes(resource.plural)) throw error;
      notChecked.push(`${resource.plural}: you may not list them`);
    }
  }
  return { objects, caBundles: [], notChecked, mayDo: (user, right) => mayDo(kube, user, right) };
}

function withoutKarpenter({ plural, group, version }: Resource, cause: unknown): KerfError {
  return new KerfError(
    'NothingToJudge',
    `the cluster does not serve ${plural} of ${group}/${version}: without Karpenter there is nothing to take over (install Kerf instead); a Karpenter older than 1.0 must first be brought to 1.0 or newer`,
    { cause },
  );
}

async function listed(kube: Pick<Kube, 'list'>, resource: Resource): Promise<PreflightObject[]> {
  const objects: PreflightObject[] = [];
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  const ofNodes = resource.plural === 'leases' ? { fieldSelector: 'metadata.namespace!=kube-node-lease' } : {};
  let token: string | undefined;
  do {
    const page = await kube.list(resource, {
      ...ofNodes,
      limit: pageSize,
      ...(token === undefined ? {} : { continue: token }),
    });
    for (const item of page.items) objects.push({ ...item, kind: resource.kind, apiVersion });
    token = page.continue;
  } while (token !== undefined);
  return objects;
}

async function mayDo(kube: Pick<Kube, 'create'>, user: string, right: AskedRight): Promise<boolean | undefined> {
  // As the API server sees a service account: rights may be bound to any of these groups.
  const [, , namespace = ''] = user.split(':');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  try {
    const answer = (await kube.create(reviews, {
      metadata: {},
      spec: { user, groups, resourceAttributes: right },
    } as never)) as { status?: { allowed?: boolean } };
    return answer.status?.allowed;
  } catch (error) {
    if (isKubeError(error, 'Forbidden') || isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** By how the controller is configured, else by the node classes that objects are or refer to. */
export function providerIn(
  objects: readonly PreflightObject[],
  container: Record<string, unknown> | undefined,
): 'aws' | 'kwok' {
  const variables = asList(container?.['env']).map(asMap);
  const configured = variables.find(({ name }) => name === 'KERF_PROVIDER')?.['value'];
  if (configured === 'kwok' || asList(container?.['args']).includes('--provider=kwok')) return 'kwok';
  const groups = objects.flatMap(({ apiVersion, spec = {} }) => {
    const template = asMap(asMap(spec['template'])['spec']);
    return [spec['nodeClassRef'], template['nodeClassRef']]
      .map((ref) => asMap(ref)['group'])
      .concat(apiVersion.split('/')[0]);
  });
  return groups.includes(kwokGroup) && !groups.includes(awsGroup) ? 'kwok' : 'aws';
}

/** Manifests, Lists, or a snapshot of `kerf snapshot`. */
export async function readFiles(files: readonly string[], stdin: NodeJS.ReadableStream): Promise<PreflightInput> {
  const objects: PreflightObject[] = [];
  const notChecked: string[] = ['rights of the service account: there is no cluster to ask'];
  for await (const item of readManifests(files, { stdin })) {
    if (item.kind === 'unreadable') notChecked.push(item.message);
    else if (item.kind === 'manifest') objects.push(...objectsIn(item.manifest.value));
  }
  return { objects, caBundles: [], notChecked };
}

function objectsIn(value: unknown): PreflightObject[] {
  const { kind, items, objects, metadata } = asMap(value);
  if (kind === 'Snapshot') return objectsIn(objects);
  if (typeof kind === 'string' && kind.endsWith('List')) return asList(items).flatMap(objectsIn);
  return typeof kind === 'string' && metadata !== undefined ? [value as PreflightObject] : [];
}
