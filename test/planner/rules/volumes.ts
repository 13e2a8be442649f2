// Where a pod's volumes allow it to run, how many attachments it adds per driver, and what makes its claims unusable.
import { label } from '../../../src/api/index.ts';
import type { Cluster } from './cluster.ts';
import type { Pod, Volume, VolumeClaim } from './objects.ts';
import { both, conflict, type Requirements, requirements } from './requirement.ts';

const inTree: Record<string, string> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
};

function claimName(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`;
}

export function claimOf(pod: Pod, volume: Volume, cluster: Cluster): VolumeClaim | 'none' | 'missing' {
  const name = claimName(pod, volume);
  if (name === undefined) return 'none';
  const namespace = pod.metadata.namespace ?? 'default';
  const found = cluster.claims.find(
    (claim) => claim.metadata.name === name && (claim.metadata.namespace ?? 'default') === namespace,
  );
  return found ?? 'missing';
}

/** Why the pod's claims cannot be used at all. */
export function volumeProblem(pod: Pod, cluster: Cluster): string | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const claim = claimOf(pod, volume, cluster);
    if (claim === 'none') continue;
    if (claim === 'missing') return 'claim missing';
    const problem = claimProblem(claim, cluster);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function claimProblem(claim: VolumeClaim, cluster: Cluster): string | undefined {
  if (claim.metadata.deletionTimestamp !== undefined) return 'claim being deleted';
  if (claim.status?.phase === 'Lost') return 'claim lost';
  if (claim.spec.volumeName) {
    const volume = cluster.volumes.find((v) => v.metadata.name === claim.spec.volumeName);
    if (volume === undefined) return 'volume missing';
    if (volume.metadata.deletionTimestamp !== undefined) return 'volume being deleted';
    if (claim.metadata.annotations?.['pv.kubernetes.io/bind-completed'] === undefined) return 'binding not completed';
  } else {
    if (!claim.spec.storageClassName) return 'no storage class';
    const storage = cluster.storageClasses.find((s) => s.metadata.name === claim.spec.storageClassName);
    if (storage === undefined) return 'storage class missing';
    if (storage.volumeBindingMode === 'Immediate') return 'immediate binding';
    const keys = (storage.allowedTopologies ?? []).flatMap((t) => (t.matchLabelExpressions ?? []).map((e) => e.key));
    if (keys.some((key) => cluster.unsupportedTopologyKeys.has(key))) return 'unsupported topology key';
  }
  const driver = driverOf(claim, cluster);
  return driver !== undefined && cluster.unsupportedProvisioners.has(driver) ? 'unsupported provisioner' : undefined;
}

function driverOf(claim: VolumeClaim, cluster: Cluster): string | undefined {
  if (claim.spec.volumeName) {
    const volume = cluster.volumes.find((v) => v.metadata.name === claim.spec.volumeName);
    return volume?.spec.csi?.driver;
  }
  const provisioner = cluster.storageClasses.find((s) => s.metadata.name === claim.spec.storageClassName)?.provisioner;
  return provisioner === undefined ? undefined : (inTree[provisioner] ?? provisioner);
}

/** Attachments by driver: `driver` to the claims it would attach. */
export function attachments(pod: Pod, cluster: Cluster): Map<string, Set<string>> {
  const byDriver = new Map<string, Set<string>>();
  for (const volume of pod.spec.volumes ?? []) {
    const claim = claimOf(pod, volume, cluster);
    if (typeof claim === 'string') continue;
    const driver = driverOf(claim, cluster);
    if (driver === undefined) continue;
    const set = byDriver.get(driver) ?? new Set();
    byDriver.set(driver, set.add(`${claim.metadata.namespace ?? 'default'}/${claim.metadata.name}`));
  }
  return byDriver;
}

/** One entry per way the volumes can be satisfied, in order; `[empty]` when they do not care. */
export function volumeAlternatives(pod: Pod, cluster: Cluster): Requirements[] {
  let alternatives: Requirements[] = [new Map()];
  for (const volume of pod.spec.volumes ?? []) {
    const claim = claimOf(pod, volume, cluster);
    if (typeof claim === 'string') continue;
    const own = claim.spec.volumeName ? boundTerms(claim.spec.volumeName, cluster) : unboundTerms(claim, cluster);
    if (own.length === 0) continue;
    const pairs = alternatives.flatMap((before) => own.map((next) => ({ before, next })));
    const agreeing = pairs.filter(({ before, next }) => conflict(before, next) === undefined);
    alternatives = (agreeing.length > 0 ? agreeing : pairs).map(({ before, next }) => both(before, next));
  }
  return alternatives;
}

function boundTerms(volumeName: string, cluster: Cluster): Requirements[] {
  const volume = cluster.volumes.find((v) => v.metadata.name === volumeName);
  const moveable = volume?.spec.local !== undefined || volume?.spec.hostPath !== undefined;
  return (volume?.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [])
    .filter((term) => (term.matchExpressions ?? []).length > 0)
    .map((term) => (term.matchExpressions ?? []).filter((e) => !moveable || e.key !== label.hostname))
    .map((expressions) => requirements(expressions, cluster.spelling));
}

function unboundTerms(claim: VolumeClaim, cluster: Cluster): Requirements[] {
  const storage = cluster.storageClasses.find((s) => s.metadata.name === claim.spec.storageClassName);
  return (storage?.allowedTopologies ?? [])
    .map((term) => term.matchLabelExpressions ?? [])
    .filter((expressions) => expressions.length > 0)
    .map((expressions) =>
      requirements(
        expressions.map(({ key, values }) => ({ key, operator: 'In' as const, values })),
        cluster.spelling,
      ),
    );
}
