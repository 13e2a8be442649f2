// Words for tests about devices: classes, slices, claims, pods that use them, and the devices that instance types bring.
// Selectors here are `attribute=value`; the CEL of real ones is tested where it is read.
import type { CompileDeviceSelector, DynamicResources, Plan, SnapshotObject } from '../index.ts';
import { nodePool, object, plan, pod, reasonsOf, type SnapshotParts } from '../testing/builders.testing.ts';

export type Fields = Record<string, unknown>;

export const compileDeviceSelector: CompileDeviceSelector = (expression) => {
  const [name, value] = expression.split('=');
  if (name === undefined || value === undefined) return { error: `cannot read ${expression}` };
  return ({ attributes }) => {
    const found = attributes[name]?.string;
    return found === undefined ? { error: `no attribute ${name}` } : found === value;
  };
};
export const planned = (objects: SnapshotObject[], parts: SnapshotParts = {}): Plan =>
  plan([nodePool(), ...objects], { settings: { ignoreDRARequests: false }, ...parts }, { compileDeviceSelector });

const api = 'resource.k8s.io/v1';
export const deviceClass = (name = 'gpu', selectors: string[] = []): SnapshotObject =>
  object(api, 'DeviceClass', name, { spec: { selectors: selectors.map((expression) => ({ cel: { expression } })) } });
export const device = (name: string, more: Fields = {}): Fields => ({ name, ...more });
export interface SliceParts extends Fields {
  devices?: Fields[];
  pool?: Fields;
  owner?: string;
}
export const slice = (name: string, { devices = [], pool, owner, ...spec }: SliceParts): SnapshotObject =>
  object(api, 'ResourceSlice', name, {
    metadata:
      owner === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: owner, uid: owner }] },
    spec: {
      driver: 'gpu.example.com',
      pool: { name, generation: 1, resourceSliceCount: 1, ...pool },
      devices,
      ...spec,
    },
  });
export const request = (exactly: Fields = {}, name = 'r'): Fields => ({
  name,
  exactly: { deviceClassName: 'gpu', ...exactly },
});
export const claim = (name: string, requests: Fields[] = [request()], more: Fields = {}): SnapshotObject => {
  const { status, ...devices } = more;
  return object(api, 'ResourceClaim', name, {
    metadata: { namespace: 'default' },
    spec: { devices: { requests, ...devices } },
    ...(status === undefined ? {} : { status }),
  });
};
export const user = (name: string, ...claims: string[]): SnapshotObject =>
  pod({
    name,
    cpu: '1',
    spec: { resourceClaims: claims.map((own, at) => ({ name: `c${at}`, resourceClaimName: own })) },
  });
export const reason = (result: Plan, item: SnapshotObject): string =>
  reasonsOf(result, item)
    .map(({ code, message }) => `${code} ${message}`)
    .join('; ');
export const gpus = (count: number, more: Fields = {}): Fields[] =>
  Array.from({ length: count }, (_, at) => device(`gpu-${at}`, more));
export const local = (name: string, count: number, more: Fields = {}): SnapshotObject =>
  slice(name, { nodeName: name, owner: name, devices: gpus(count, more) });

type Devices = NonNullable<NonNullable<DynamicResources['resourceSliceTemplates']>[number]['devices']>;

/** What a type declares: one pool of devices. */
export const brings = (devices: Fields[], more: Partial<DynamicResources> = {}): DynamicResources => ({
  resourceSliceTemplates: [
    { driver: 'gpu.example.com', pool: { name: 'own' }, devices: devices as unknown as Devices },
  ],
  ...more,
});
