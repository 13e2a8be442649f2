// Takes out of a snapshot what is no one else's business and no decision needs: environment, commands, images,
// annotations and addresses go; names and label values of the owner's own become numbers, the same text the same number
// everywhere, so that selectors, owners, claims and budgets still meet and the plan stays the same in kind.
//
// Kept: what Kubernetes, Karpenter and the clouds define (instance types, zones, architectures, resource names), numbers
// (they are compared), label keys, taints, and the names of NodePools, node classes and storage classes.
import { annotation } from '../../api/names.ts';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';

/** Fields of containers, pods and nodes that no decision reads. */
const dropped = new Set([
  'env',
  'envFrom',
  'command',
  'args',
  'image',
  'imageID',
  'images',
  'imagePullSecrets',
  'volumeMounts',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'serviceAccount',
  'serviceAccountName',
  'hostAliases',
  'addresses',
  'nodeInfo',
  'podIP',
  'podIPs',
  'hostIP',
  'hostIPs',
  'message',
  'userData',
  'tags',
  'managedFields',
  'nodeID',
]);

/** Volume sources whose names point at configuration. */
const droppedVolumes = new Set(['configMap', 'secret', 'projected', 'downwardAPI', 'hostPath']);

/** Fields whose text names an object of the owner's. */
const nameFields = new Set([
  'name',
  'generateName',
  'namespace',
  'nodeName',
  'hostname',
  'subdomain',
  'claimName',
  'volumeName',
  'role',
  'instanceProfile',
  'resourceClaimName',
  'resourceClaimTemplateName',
  'deviceClassName',
  'counterSet',
  'pool',
  'device',
  'request',
]);

/** Fields whose list of texts names objects of the owner's. */
const nameLists = new Set(['namespaces', 'requests']);

/** Kinds that are configuration: a report about them is unreadable without their names. */
const configuration = new Set(['NodePool', 'EC2NodeClass', 'KWOKNodeClass', 'NodeOverlay', 'StorageClass']);

/** Domains whose labels and annotations are public vocabulary. */
const publicDomain = /(^|\.)(kubernetes\.io|k8s\.io|karpenter\.sh|k8s\.aws|karpenter\.kwok\.sh|csi\.aws\.com)$/;
/** Labels that Kubernetes defines and people fill. */
const ownLabels =
  /^(kubernetes\.io\/(hostname|metadata\.name)$|(app|statefulset|batch)\.kubernetes\.io\/|[a-z.-]+\.sigs\.k8s\.io\/)/;
const publicNames = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

export function redactSnapshot(snapshot: Snapshot): Snapshot {
  return { ...redactWith(new Redactor(), snapshot, new WeakMap()), name: 'redacted' };
}

/** With words that go on from one snapshot to the next; objects that are the same are redacted once. */
export function redactWith(
  redactor: Redactor,
  snapshot: Snapshot,
  known: WeakMap<SnapshotObject, SnapshotObject>,
): Snapshot {
  for (const object of snapshot.objects.items) redactor.nameEphemeralClaims(object);
  const { nodeState, poolState, name: _, ...rest } = snapshot;
  const redacted = (object: SnapshotObject): SnapshotObject => {
    const found = known.get(object) ?? redactor.object(object);
    known.set(object, found);
    return found;
  };
  return {
    ...rest,
    objects: { ...snapshot.objects, items: snapshot.objects.items.map(redacted) },
    ...(nodeState === undefined
      ? {}
      : { nodeState: nodeState.map((entry) => redactor.value(entry, 'nodeState') as typeof entry) }),
    ...(poolState === undefined
      ? {}
      : { poolState: poolState.map((entry) => redactor.value(entry, 'poolState') as typeof entry) }),
  };
}

export class Redactor {
  private readonly known = new Map<string, string>();

  object(object: SnapshotObject): SnapshotObject {
    const redacted = this.value(object, object.kind) as SnapshotObject;
    if (!configuration.has(object.kind)) return redacted;
    return { ...redacted, metadata: { ...redacted.metadata, name: object.metadata.name } };
  }

  value(value: unknown, field: string): unknown {
    if (Array.isArray(value)) {
      return value.map((item) =>
        nameLists.has(field) && typeof item === 'string' ? this.pseudonym(item) : this.value(item, field),
      );
    }
    if (typeof value === 'object' && value !== null) return this.fields(value as Record<string, unknown>, field);
    return value;
  }

  /** What a name of the owner's became. */
  name(text: string): string {
    return this.pseudonym(text);
  }

  /** The claim of an ephemeral volume is found by its name, `<pod>-<volume>`, which must stay made of its parts. */
  nameEphemeralClaims(object: SnapshotObject): void {
    const spec = object['spec'] as { volumes?: { name: string; ephemeral?: unknown }[] } | undefined;
    if (object.kind !== 'Pod') return;
    for (const { name, ephemeral } of spec?.volumes ?? []) {
      if (ephemeral === undefined) continue;
      const pod = object.metadata.name;
      this.known.set(`${pod}-${name}`, `${this.pseudonym(pod)}-${this.pseudonym(name)}`);
    }
  }

  private fields(value: Record<string, unknown>, field: string): Record<string, unknown> {
    if (areLabels(value, field)) return this.labels(value);
    if (field === 'annotations') return keptAnnotations(value);
    const isExpression = typeof value['key'] === 'string' && Array.isArray(value['values']);
    const redacted: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      if (dropped.has(key) || (field === 'volumes' && droppedVolumes.has(key))) continue;
      if (isExpression && key === 'values')
        redacted[key] = (inner as unknown[]).map((one) => this.labelValue(String(value['key']), one));
      else if (typeof inner === 'string' && this.isName(key, field)) redacted[key] = this.pseudonym(inner);
      else if (key === 'providerID' && typeof inner === 'string')
        redacted[key] = `redacted:///${this.pseudonym(inner)}`;
      else redacted[key] = this.value(inner, key);
    }
    return redacted;
  }

  /** Names of pods, nodes, namespaces, claims; not of storage drivers or of configuration. */
  private isName(key: string, field: string): boolean {
    if (field === 'nodeState') return key === 'node' || key === 'nodeClaim';
    return nameFields.has(key) && field !== 'drivers' && field !== 'nodeClassRef';
  }

  private labels(labels: Record<string, unknown>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, this.labelValue(key, value)]));
  }

  private labelValue(key: string, value: unknown): unknown {
    if (typeof value !== 'string' || value === '' || /^\d+$/.test(value) || value === 'true' || value === 'false')
      return value;
    const isOwn = !isPublic(key) || ownLabels.test(key);
    return isOwn ? this.pseudonym(value) : value;
  }

  /** The same text is the same word everywhere. */
  private pseudonym(text: string): string {
    if (publicNames.has(text)) return text;
    let word = this.known.get(text);
    if (word === undefined) this.known.set(text, (word = `x${this.known.size + 1}`));
    return word;
  }
}

/** The node selector of a pod is labels, that of a device is terms; selectors of Services are labels, others have parts. */
function areLabels(value: Record<string, unknown>, field: string): boolean {
  if (field === 'labels' || field === 'matchLabels') return true;
  if (field === 'nodeSelector') return !('nodeSelectorTerms' in value);
  return field === 'selector' && Object.values(value).every((one) => typeof one === 'string');
}

/** Switches, numbers and durations of public keys; other values are text of the owner's. */
function keptAnnotations(annotations: Record<string, unknown>): Record<string, unknown> {
  const harmless = /^(true|false|yes|no|-?\d[\d.smh]*)?$/;
  return Object.fromEntries(
    Object.entries(annotations).filter(
      // Which machines the simulated provider sells decides about the plan, and is one of two words.
      ([key, value]) => key === annotation.catalogue || (isPublic(key) && harmless.test(String(value))),
    ),
  );
}

function isPublic(key: string): boolean {
  const slash = key.indexOf('/');
  return slash > 0 && publicDomain.test(key.slice(0, slash));
}
