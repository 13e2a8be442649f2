// Writes src/sim/data/schemas.json: the fields of the built-in kinds the embedded cluster serves, as bare facts (names,
// types, required fields, merge keys, protobuf numbers, which empty values appear on the wire), taken from a Kubernetes OpenAPI v2 document
// and the tags of the Go types beside it. Run it when the presented version changes:
//   node scripts/kube-schemas.ts swagger.json MODULES v0.37.1
// where swagger.json is `kubectl get --raw /openapi/v2` and MODULES the folder that holds api@v0.37.1 and its neighbours.
import { globSync, readFileSync, writeFileSync } from 'node:fs';

interface Definition {
  type?: string;
  format?: string;
  $ref?: string;
  items?: Definition;
  properties?: Record<string, Definition>;
  additionalProperties?: Definition;
  required?: string[];
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
}

/** Definitions to start from; everything they refer to comes along. */
const roots = [
  'api.core.v1.(Namespace|Node|Pod|PodTemplate|ConfigMap|Secret|ServiceAccount|Event|Service|PersistentVolume|PersistentVolumeClaim|LimitRange|ResourceQuota|Binding)',
  'api.apps.v1.(Deployment|ReplicaSet|StatefulSet|DaemonSet|ControllerRevision)',
  'api.batch.v1.(Job|CronJob)',
  'api.policy.v1.(PodDisruptionBudget|Eviction)',
  'api.autoscaling.v1.Scale',
  'api.autoscaling.v2.HorizontalPodAutoscaler',
  'api.coordination.v1.Lease',
  'api.events.v1.Event',
  'api.authorization.v1.(SelfSubjectAccessReview|SelfSubjectRulesReview)',
  'api.scheduling.v1.PriorityClass',
  'api.storage.v1.(StorageClass|CSINode|CSIDriver|VolumeAttachment)',
  'api.rbac.v1.(Role|ClusterRole|RoleBinding|ClusterRoleBinding)',
  'api.resource.v1.(ResourceClaim|ResourceClaimTemplate|DeviceClass|DeviceTaintRule|ResourceSlice)',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  'apimachinery.pkg.apis.meta.v1.(DeleteOptions|Status|ListMeta)',
].map((pattern) => new RegExp(`^${pattern}$`));

/** Types whose JSON form is not that of their fields. */
const scalars: Record<string, string> = {
  'apimachinery.pkg.api.resource.Quantity': 'quantity',
  'apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'apimachinery.pkg.apis.meta.v1.Time': 'time',
  'apimachinery.pkg.apis.meta.v1.MicroTime': 'microTime',
  'apimachinery.pkg.apis.meta.v1.FieldsV1': 'any',
  'apimachinery.pkg.runtime.RawExtension': 'any',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': 'any',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'any',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': 'any',
  'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'any',
};

const [path, modules, version] = process.argv.slice(2);
if (path === undefined || modules === undefined || version === undefined) {
  throw new Error('say where to read: node scripts/kube-schemas.ts swagger.json MODULES v0.37.1');
}
const { definitions } = JSON.parse(readFileSync(path, 'utf8')) as { definitions: Record<string, Definition> };
const short = (name: string): string => name.replace(/^(#\/definitions\/)?io\.k8s\./, '');

const wanted: string[] = [];
const seen = new Set<string>();
function want(name: string): void {
  if (seen.has(name) || name in scalars) return;
  seen.add(name);
  wanted.push(name);
}

function field(definition: Definition): unknown {
  if (definition.$ref !== undefined) {
    const name = short(definition.$ref);
    if (name in scalars) return scalars[name];
    want(name);
    return `@${name}`;
  }
  if (definition.type === 'array') {
    return {
      list: field(definition.items ?? {}),
      ...(definition['x-kubernetes-patch-merge-key'] && { mergeKey: definition['x-kubernetes-patch-merge-key'] }),
      ...(definition['x-kubernetes-patch-strategy'] && { strategy: definition['x-kubernetes-patch-strategy'] }),
      ...(definition['x-kubernetes-list-map-keys'] && { keys: definition['x-kubernetes-list-map-keys'] }),
      ...(definition['x-kubernetes-list-type'] === 'set' && { set: true }),
    };
  }
  if (definition.type === 'object') {
    const map = definition.additionalProperties ? field(definition.additionalProperties) : 'any';
    return definition['x-kubernetes-map-type'] === 'atomic' ? { map, atomic: true } : { map };
  }
  if (definition.type === 'string') return definition.format === 'byte' ? 'bytes' : 'string';
  if (definition.type === 'integer') return definition.format ?? 'int64';
  return definition.type === 'number' ? 'double' : (definition.type ?? 'any');
}

interface Tag {
  name: string;
  type: string;
  /** Its number in the protobuf encoding; 0 when it has none. */
  number: number;
  inline: boolean;
  omitEmpty: boolean;
  omitZero: boolean;
}

/** The JSON tags of every struct in a Go package. */
const packages = new Map<string, Map<string, Tag[]>>();
function structsOf(definition: string): Map<string, Tag[]> {
  const [module, ...rest] = definition.split('.').slice(0, -1) as [string, ...string[]];
  const folder = `${modules}/${module}@${version}/${rest.join('/')}`;
  const known = packages.get(folder);
  if (known) return known;
  const structs = new Map<string, Tag[]>();
  packages.set(folder, structs);
  for (const file of globSync(`${folder}/*.go`).filter((name) => !/_test|generated|zz_/.test(name))) {
    for (const [, name, body] of readFileSync(file, 'utf8').matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      const tags = [
        ...(body as string).matchAll(/^\t(?:(\w+)\s+)?(\S+)\s+`json:"([^"]*)"(?:.*?protobuf:"[a-z0-9]+,(\d+))?/gm),
      ].map(([, , type, json, number]): Tag => {
        const [field = '', ...options] = (json as string).split(',');
        return {
          name: field,
          type: type as string,
          number: Number(number ?? 0),
          inline: field === '' || options.includes('inline'),
          omitEmpty: options.includes('omitempty'),
          omitZero: options.includes('omitzero'),
        };
      });
      structs.set(name as string, tags);
    }
  }
  return structs;
}

function tagsOf(definition: string, struct = definition.split('.').at(-1) as string): Tag[] {
  const tags = structsOf(definition).get(struct) ?? [];
  return tags.flatMap((tag) => {
    if (!tag.inline) return [tag];
    const inner = tag.type.replace(/^\*/, '').split('.').at(-1) as string;
    return inner === 'TypeMeta' ? [] : tagsOf(definition, inner);
  });
}

/** Field numbers of the protobuf encoding. What JSON shows inline is a message of its own there. */
type Wire = { [number: string]: string | Wire };
function wireOf(definition: string, struct = definition.split('.').at(-1) as string): Wire {
  const wire: Wire = {};
  for (const tag of structsOf(definition).get(struct) ?? []) {
    if (tag.number === 0) continue;
    wire[tag.number] = tag.inline ? wireOf(definition, tag.type.replace(/^\*/, '').split('.').at(-1)) : tag.name;
  }
  return wire;
}

/** What the wire shows of fields without a value: those dropped when empty, and those always there with their zero value. */
function presence(
  definition: string,
  fields: Record<string, unknown>,
): { empty: string[]; always: Record<string, unknown> } {
  const empty: string[] = [];
  const always: Record<string, unknown> = {};
  for (const tag of tagsOf(definition)) {
    const type = fields[tag.name];
    if (type === undefined || tag.type.startsWith('*')) continue;
    const bare = typeof type === 'object' && type !== null && 'ref' in type ? type.ref : type;
    const isStruct = typeof bare === 'string' && (bare.startsWith('@') || bare === 'time' || bare === 'microTime');
    if (tag.omitZero || (tag.omitEmpty && !isStruct)) empty.push(tag.name);
    else if (typeof bare !== 'string' || bare === 'time' || bare === 'microTime' || bare === 'any')
      always[tag.name] = null;
    else if (isStruct) always[tag.name] = {};
    else if (bare === 'string' || bare === 'bytes') always[tag.name] = '';
    else if (bare === 'boolean') always[tag.name] = false;
    else always[tag.name] = bare === 'quantity' ? '0' : 0;
  }
  return { empty, always };
}

for (const name of Object.keys(definitions).map(short)) if (roots.some((root) => root.test(name))) want(name);
const out: Record<string, unknown> = {};
for (let index = 0; index < wanted.length; index += 1) {
  const name = wanted[index] as string;
  const definition = definitions[`io.k8s.${name}`] as Definition;
  const fields = Object.entries(definition.properties ?? {}).map(([key, value]) => {
    const type = field(value);
    const strategy = value['x-kubernetes-patch-strategy'];
    return [key, typeof type === 'string' && strategy ? { ref: type, strategy } : type];
  });
  const { empty, always } = presence(name, Object.fromEntries(fields));
  out[name] = {
    fields: Object.fromEntries(fields),
    wire: wireOf(name),
    ...(empty.length > 0 && { empty }),
    ...(Object.keys(always).length > 0 && { always }),
    ...(definition.required && { required: definition.required }),
    ...(definition['x-kubernetes-map-type'] === 'atomic' && { atomic: true }),
  };
}
const lines = Object.entries(out)
  .sort(([left], [right]) => (left < right ? -1 : 1))
  .map(([name, definition]) => `${JSON.stringify(name)}: ${JSON.stringify(definition)}`);
writeFileSync('src/sim/data/schemas.json', `{\n${lines.join(',\n')}\n}\n`);
console.log(`wrote ${lines.length} definitions`);
