// What a ResourceClaim asks for, checked and compiled: requests for a number of devices or for all of them, each with the
// selectors of its class and its own, alternatives in the order of preference, and the attributes that devices must have
// in common or must not share. What cannot be honoured is an error in words; pods with such a claim find no place.

import type {
  ClaimConstraint,
  ClaimRequest,
  DeviceClass,
  DeviceSelectorSpec,
  DeviceTaint,
  DeviceToleration,
  ExactRequest,
  ResourceClaim,
} from '../kube/device-objects.ts';
import { keyOf } from '../kube/objects.ts';
import { amountOf, type Device } from './device-pools.ts';

/** Whether a device suits. An expression that fails on a device ends the search, as in Kubernetes. */
export type DeviceSelector = (device: Device) => boolean | { readonly error: string };

/** Makes a selector of a CEL expression over `device`, or says what is wrong with it. */
export type CompileDeviceSelector = (expression: string) => DeviceSelector | { readonly error: string };

export interface DeviceRequest {
  /** Of an alternative `request/alternative`. */
  readonly name: string;
  /** The request an alternative belongs to. */
  readonly of: string;
  /** Undefined asks for all that match. */
  readonly count: number | undefined;
  /** Whether all its selectors, and those of its class, want the device. */
  readonly selects: DeviceSelector;
  /** Of shared devices: how much of each capacity. */
  readonly capacity: ReadonlyMap<string, bigint>;
  readonly tolerates: (taint: DeviceTaint) => boolean;
}

export interface CommonAttribute {
  readonly attribute: string;
  /** Every device has another value, instead of all the same. */
  readonly isDistinct: boolean;
  /** Empty means all requests of the claim. */
  readonly requests: ReadonlySet<string>;
}

export interface ClaimWork {
  readonly key: string;
  /** The same for claims that ask for the same. */
  readonly like: string;
  /** One of each list is available; most lists have one entry. */
  readonly requests: readonly (readonly DeviceRequest[])[];
  readonly common: readonly CommonAttribute[];
}

/** The API's own limit. */
export const mostDevicesPerClaim = 32;

export interface RequestContext {
  readonly classes: ReadonlyMap<string, DeviceClass>;
  readonly compile: CompileDeviceSelector;
}

export function claimWork(context: RequestContext, claim: ResourceClaim): ClaimWork | { readonly error: string } {
  const { requests = [], constraints = [] } = claim.spec?.devices ?? {};
  const key = keyOf(claim.metadata);
  const compiled: DeviceRequest[][] = [];
  for (const request of requests) {
    const result = alternatives(context, request);
    if ('error' in result) return { error: `resourceclaim "${key}", request "${request.name}": ${result.error}` };
    compiled.push(result);
  }
  const wanted = compiled.reduce((sum, ways) => sum + Math.max(...ways.map(({ count = 0 }) => count)), 0);
  if (wanted > mostDevicesPerClaim) {
    return { error: `resourceclaim "${key}" asks for ${wanted} devices; ${mostDevicesPerClaim} is the most` };
  }
  const common: CommonAttribute[] = [];
  for (const constraint of constraints) {
    const result = commonAttribute(constraint);
    if ('error' in result) return { error: `resourceclaim "${key}": ${result.error}` };
    common.push(result);
  }
  return { key, like: JSON.stringify([requests, constraints]), requests: compiled, common };
}

function alternatives(context: RequestContext, request: ClaimRequest): DeviceRequest[] | { error: string } {
  const { name, exactly, firstAvailable = [] } = request;
  const ways = exactly === undefined ? firstAvailable : [exactly];
  if (ways.length === 0) return { error: 'neither "exactly" nor "firstAvailable" says what is asked for' };
  const compiled: DeviceRequest[] = [];
  for (const way of ways) {
    const result = deviceRequest(context, way, { of: name, name: 'name' in way ? `${name}/${way.name}` : name });
    if ('error' in result) return result;
    compiled.push(result);
  }
  return compiled;
}

/** One device of the class, without more to ask of it. */
export function classRequest(context: RequestContext, className: string): DeviceRequest | { error: string } {
  return deviceRequest(context, { deviceClassName: className }, { name: className, of: className });
}

function deviceRequest(
  context: RequestContext,
  exactly: ExactRequest,
  names: Pick<DeviceRequest, 'name' | 'of'>,
): DeviceRequest | { error: string } {
  const className = exactly.deviceClassName ?? '';
  const deviceClass = context.classes.get(className);
  if (deviceClass === undefined) return { error: `deviceclass "${className}" not found` };
  const mode = exactly.allocationMode || 'ExactCount';
  if (mode !== 'ExactCount' && mode !== 'All') return { error: `unknown allocation mode ${mode}` };
  const selectors: DeviceSelector[] = [];
  for (const spec of [...(deviceClass.spec?.selectors ?? []), ...(exactly.selectors ?? [])]) {
    const selector = compiledSelector(context, spec);
    if ('error' in selector) return selector;
    selectors.push(selector);
  }
  return {
    ...names,
    count: mode === 'All' ? undefined : (exactly.count ?? 1),
    selects: selectedByAll(selectors),
    capacity: new Map(Object.entries(exactly.capacity?.requests ?? {}).map(([name, value]) => [name, amountOf(value)])),
    tolerates: (taint) => (exactly.tolerations ?? []).some((toleration) => toleratesTaint(toleration, taint)),
  };
}

/** As for nodes: an empty key or effect stands for all of them. */
function toleratesTaint({ key, operator, value, effect }: DeviceToleration, taint: DeviceTaint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if ((operator || 'Equal') === 'Exists') return true;
  return Boolean(key) && operator !== 'Exists' && (value ?? '') === (taint.value ?? '');
}

function selectedByAll(selectors: readonly DeviceSelector[]): DeviceSelector {
  return (device) => {
    for (const selector of selectors) {
      const answer = selector(device);
      if (answer !== true) return answer;
    }
    return true;
  };
}

/** Claims repeat expressions, and devices are asked about again for every node; each answer is worked out once. */
export function remembering(compile: CompileDeviceSelector): CompileDeviceSelector {
  const known = new Map<string, ReturnType<CompileDeviceSelector>>();
  return (expression) => {
    let selector = known.get(expression);
    if (selector === undefined) {
      const compiled = compile(expression);
      selector = 'error' in compiled ? compiled : rememberingAnswers(compiled);
      known.set(expression, selector);
    }
    return selector;
  };
}

function rememberingAnswers(selector: DeviceSelector): DeviceSelector {
  const known = new Map<Device, ReturnType<DeviceSelector>>();
  return (device) => {
    let answer = known.get(device);
    if (answer === undefined) {
      answer = selector(device);
      known.set(device, answer);
    }
    return answer;
  };
}

function compiledSelector({ compile }: RequestContext, spec: DeviceSelectorSpec): DeviceSelector | { error: string } {
  const expression = spec.cel?.expression;
  return expression === undefined ? { error: 'only CEL selectors are supported' } : compile(expression);
}

function commonAttribute({
  matchAttribute,
  distinctAttribute,
  requests,
}: ClaimConstraint): CommonAttribute | { error: string } {
  const attribute = matchAttribute ?? distinctAttribute;
  if (attribute === undefined) return { error: 'a constraint names no attribute' };
  return { attribute, isDistinct: matchAttribute === undefined, requests: new Set(requests) };
}
