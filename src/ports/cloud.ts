// What we ask of a cloud. Adapters: AWS (src/aws) and the simulated provider (src/sim). Both run one contract suite.
//
// Contract:
// 1. `create` launches one machine that satisfies the claim's requirements and requests, and returns at once with what is
//    known about it; the Node joins later by itself. Calling it twice for one claim may launch twice: the caller remembers.
// 2. `delete` may be called any number of times. It throws `notFound` once the machine is gone; resolving means "on its way".
// 3. `get` throws `notFound` for a machine that is gone. `list` returns every machine of this cluster, including those without a NodeClaim.
// 4. `instanceTypes` returns every type, also ones with no available offering. The same array comes back while nothing
//    changed, so that callers can cache by identity.
// 5. `driftReason` is undefined while the machine still is what its node class asks for.
// 6. `reboot` restarts the machine in place and returns once that is on its way; repeating it with the same id does no
//    harm. `rebootFailed` means that trying again does not help. A cloud without it has no policies that reboot.
// 7. Expected failures are CloudErrors with a `kind`; anything else is unexpected and retried.
import type { NodeClaim, NodePool } from '../api/index.ts';
import { type ErrorCode, KerfError } from '../base/index.ts';
import type { FailedOffering, InstanceTypeSpec, ProviderFacts, RepairPolicy } from '../core/index.ts';

export type { RepairPolicy } from '../core/index.ts';

import type { CallOptions, KubeObject, Resource } from './kube.ts';

/** What is known about a machine right after launch, or later. */
export interface Instance {
  providerID: string;
  imageID?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  /** Name of the NodeClaim it was launched for, if the cloud remembers; a restarted process finds its machines by it. */
  nodeClaim?: string;
  /** When the machine was launched, RFC 3339, if the cloud tells. */
  createdAt?: string;
  /** It is being taken down already. */
  isDeleting?: boolean;
}

/** Something the provider waits for before a node counts as registered. */
export interface RegistrationHook {
  name: string;
  /** True when ready; false means ask again in `retryMs`. Labels it brings are put on the claim and its Node. */
  isReady(claim: NodeClaim): Promise<{ ready: boolean; retryMs?: number; labels?: Record<string, string> }>;
}

export interface AskOptions extends CallOptions {
  /** For pods that could use nothing else: what failed a minute ago or earlier counts as if it had not. */
  probing?: boolean;
}

export interface CreateOptions extends AskOptions {
  /** The pool's instance types as they count for it, where that is not what the provider itself says about them. */
  instanceTypes?: readonly InstanceTypeSpec[];
}

export interface Cloud {
  readonly name: string;
  readonly facts: ProviderFacts;
  /** Kinds of node class it serves; the first is the default. */
  readonly nodeClasses: readonly Resource<KubeObject>[];
  readonly registrationHooks?: readonly RegistrationHook[];
  create(claim: NodeClaim, options?: CreateOptions): Promise<Instance>;
  delete(claim: NodeClaim, options?: CallOptions): Promise<void>;
  get(providerID: string, options?: CallOptions): Promise<Instance>;
  list(options?: CallOptions): Promise<Instance[]>;
  instanceTypes(pool: NodePool, options?: AskOptions): Promise<readonly InstanceTypeSpec[]>;
  driftReason(claim: NodeClaim, options?: CallOptions): Promise<string | undefined>;
  /** What keeps a machine that was launched a while ago from joining, in a clause; undefined when nothing is known. */
  whyNotJoined?(claim: NodeClaim): Promise<string | undefined>;
  /** Why a machine was not launched for this cluster, in a clause; undefined when it was, or the provider does not have it (yet). */
  whyForeign?(providerID: string): Promise<string | undefined>;
  /** What it could not launch lately and will not try before its time; absent or empty, nothing. */
  failedOfferings?(options?: Pick<AskOptions, 'probing'>): FailedOffering[];
  reboot?(claim: NodeClaim, operationId: string, options?: CallOptions): Promise<void>;
  repairPolicies(): readonly RepairPolicy[];
}

export type CloudErrorKind =
  | 'notFound'
  | 'insufficientCapacity'
  | 'nodeClassNotReady'
  /** Launching failed in a way the claim's Launched condition should tell: `reason` is that condition's reason. */
  | 'createFailed'
  | 'unevaluatedNodePool'
  | 'rebootFailed';

const prefixes: Record<CloudErrorKind, string> = {
  notFound: 'nodeclaim not found, ',
  insufficientCapacity: 'insufficient capacity, ',
  nodeClassNotReady: 'NodeClassRef not ready, ',
  createFailed: 'creating nodeclaim, ',
  unevaluatedNodePool: '',
  rebootFailed: '',
};

const codes: Record<CloudErrorKind, ErrorCode> = {
  notFound: 'CloudNotFound',
  insufficientCapacity: 'CloudInsufficientCapacity',
  nodeClassNotReady: 'CloudNodeClassNotReady',
  createFailed: 'CloudCreateFailed',
  unevaluatedNodePool: 'CloudUnevaluatedNodePool',
  rebootFailed: 'CloudRebootFailed',
};

/** Names in metrics; the others have none. */
const metricNames: Partial<Record<CloudErrorKind, string>> = {
  notFound: 'NodeClaimNotFoundError',
  insufficientCapacity: 'InsufficientCapacityError',
  nodeClassNotReady: 'NodeClassNotReadyError',
};

export class CloudError extends KerfError {
  readonly kind: CloudErrorKind;
  /** Condition reason and message for `createFailed`. */
  readonly conditionReason: string | undefined;
  readonly conditionMessage: string | undefined;

  constructor(
    kind: CloudErrorKind,
    message: string,
    options: { cause?: unknown; conditionReason?: string; conditionMessage?: string } = {},
  ) {
    super(codes[kind], `${prefixes[kind]}${message}`, {
      retryable: kind !== 'notFound',
      cause: options.cause,
    });
    this.name = 'CloudError';
    this.kind = kind;
    this.conditionReason = options.conditionReason;
    this.conditionMessage = options.conditionMessage;
  }

  get metricName(): string {
    return metricNames[this.kind] ?? '';
  }
}

export function isCloudError(thrown: unknown, kind?: CloudErrorKind): thrown is CloudError {
  return thrown instanceof CloudError && (kind === undefined || thrown.kind === kind);
}

/** The same cloud with some calls answered differently. */
export function cloudWith(cloud: Cloud, changes: Partial<Cloud>): Cloud {
  return {
    name: cloud.name,
    facts: cloud.facts,
    nodeClasses: cloud.nodeClasses,
    ...(cloud.registrationHooks === undefined ? {} : { registrationHooks: cloud.registrationHooks }),
    ...(cloud.whyNotJoined === undefined ? {} : { whyNotJoined: cloud.whyNotJoined.bind(cloud) }),
    ...(cloud.whyForeign === undefined ? {} : { whyForeign: cloud.whyForeign.bind(cloud) }),
    ...(cloud.failedOfferings === undefined ? {} : { failedOfferings: cloud.failedOfferings.bind(cloud) }),
    ...(cloud.reboot === undefined ? {} : { reboot: cloud.reboot.bind(cloud) }),
    create: (claim, options) => cloud.create(claim, options),
    delete: (claim, options) => cloud.delete(claim, options),
    get: (providerID, options) => cloud.get(providerID, options),
    list: (options) => cloud.list(options),
    instanceTypes: (pool, options) => cloud.instanceTypes(pool, options),
    driftReason: (claim, options) => cloud.driftReason(claim, options),
    repairPolicies: () => cloud.repairPolicies(),
    ...changes,
  };
}
