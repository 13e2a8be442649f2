// Why a node class, or a NodePool, is not ready, paused or limited: its conditions that are not as they should be, who is
// affected, and the failures behind it.
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import { counted, type Paint, wrapText } from '../output/index.ts';
import { nodeClassRefOf } from '../plan/provider.ts';
import { failuresAbout, type NamedFailure, type Ref, renderFailures } from './failures-about.ts';

interface Condition {
  type: string;
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ClassStory {
  nodeClass: string;
  ready: boolean;
  pausedBecause?: string;
  conditions: Condition[];
  nodePools: string[];
  nodeClaims: number;
  failures: NamedFailure[];
}

const nodeClassKinds = new Set(['EC2NodeClass', 'KWOKNodeClass']);
/** Conditions that are usually absent: their presence is the news. */
const absent = new Set(['LaunchesPaused']);

export const nodeClassesIn = ({ objects }: Snapshot): SnapshotObject[] =>
  objects.items.filter(({ kind }) => nodeClassKinds.has(kind));

export function classStory(snapshot: Snapshot, name: string): ClassStory | undefined {
  const nodeClass = nodeClassesIn(snapshot).find(({ metadata }) => metadata.name === name);
  if (nodeClass === undefined) return undefined;
  const conditions = conditionsOf(nodeClass);
  const paused = conditions.find(({ type, status }) => type === 'LaunchesPaused' && status === 'True');
  const users = snapshot.objects.items.filter((object) => isOf(object, nodeClass));
  return {
    nodeClass: name,
    ready: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    ...(paused?.message === undefined ? {} : { pausedBecause: paused.message }),
    conditions: wrong(conditions),
    nodePools: users.filter(({ kind }) => kind === 'NodePool').map(({ metadata }) => metadata.name),
    nodeClaims: users.filter(({ kind }) => kind === 'NodeClaim').length,
    failures: failuresAbout(snapshot, [{ kind: nodeClass.kind, name }]),
  };
}

export function renderClassStory(story: ClassStory, style: { paint: Paint; columns: number }): string {
  const { nodeClass, ready, pausedBecause, conditions, nodePools, nodeClaims, failures } = story;
  const state = pausedBecause !== undefined ? 'launches are paused' : ready ? 'ready' : 'not ready';
  const used = nodePools.length === 0 ? 'used by no NodePool' : `used by NodePool ${nodePools.join(', ')}`;
  const head = `${style.paint.bold(nodeClass)}  ${state}; ${used}, ${counted(nodeClaims, 'NodeClaim')}\n`;
  return `${head}${conditionLines(conditions, style)}${renderFailures(failures, style)}`;
}

/** Under the heading of a pool: what keeps it from being used. */
export function poolTrouble(
  snapshot: Snapshot,
  name: string,
  style: { paint: Paint; columns: number },
): { conditions: Condition[]; failures: NamedFailure[]; text: string } {
  const pool = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodePool' && metadata.name === name);
  const conditions = pool === undefined ? [] : wrong(conditionsOf(pool));
  const failures = failuresAbout(snapshot, refsOfPool(snapshot, name));
  return { conditions, failures, text: `${conditionLines(conditions, style)}${renderFailures(failures, style)}` };
}

/** The pool and the class behind it. */
export function refsOfPool(snapshot: Snapshot, name: string): Ref[] {
  const pool = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodePool' && metadata.name === name);
  const ref = pool === undefined ? undefined : nodeClassRefOf(pool);
  return [{ kind: 'NodePool', name }, ...(ref === undefined ? [] : [{ kind: ref.kind, name: ref.name }])];
}

/** A NodePool or NodeClaim of this very class: classes of different kinds may share a name. */
function isOf(object: SnapshotObject, { kind, metadata }: SnapshotObject): boolean {
  if (object.kind !== 'NodePool' && object.kind !== 'NodeClaim') return false;
  const ref = nodeClassRefOf(object);
  return ref?.kind === kind && ref.name === metadata.name;
}

const conditionsOf = (object: SnapshotObject): Condition[] =>
  ((object['status'] ?? {}) as { conditions?: Condition[] }).conditions ?? [];

const wrong = (conditions: readonly Condition[]): Condition[] =>
  conditions.filter(({ type, status }) => (absent.has(type) ? status === 'True' : status === 'False'));

function conditionLines(conditions: readonly Condition[], { columns }: { columns: number }): string {
  return conditions
    .flatMap(({ type, status, reason = '', message = '' }) =>
      wrapText(`${type} is ${status}: ${reason}${message === '' ? '' : `, ${message}`}`, Math.max(40, columns - 2)),
    )
    .map((line) => `  ${line}\n`)
    .join('');
}
