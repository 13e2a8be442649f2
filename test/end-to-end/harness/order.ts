// What must hold in a room that has come to rest, and what must hold all the while.
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../../src/ports/index.ts';
import type { ControlPlane } from '../../setup/control-plane.ts';
import { conditionOf } from './api.ts';
import type { Room } from './room.ts';

/** What is out of order when `pods` pods should run, each on a node of its own; empty when all is well. */
export async function disorderIn(room: Room, pods: number): Promise<string[]> {
  const problems: string[] = [];
  const [claims, nodes, ready, all] = [await room.claims(), await room.nodes(), await room.ready(), await room.pods()];
  if (ready.length !== pods || all.length !== pods) problems.push(`${ready.length} of ${all.length} pods are ready`);
  if (nodes.length !== pods) problems.push(`${nodes.length} nodes for ${pods} pods`);
  for (const { metadata, status } of claims) {
    const mine = nodes.filter(({ spec }) => spec?.providerID === status?.providerID);
    if (mine.length !== 1) problems.push(`NodeClaim ${metadata.name} has ${mine.length} nodes`);
    if (conditionOf({ status }, 'Ready')?.status !== 'True') problems.push(`NodeClaim ${metadata.name} is not ready`);
    if (metadata.deletionTimestamp !== undefined) problems.push(`NodeClaim ${metadata.name} is being deleted`);
  }
  for (const { metadata, spec } of nodes) {
    const mine = claims.filter(({ status }) => status?.providerID === spec?.providerID);
    if (mine.length !== 1) problems.push(`Node ${metadata.name} has ${mine.length} claims`);
    if (metadata.deletionTimestamp !== undefined) problems.push(`Node ${metadata.name} is being deleted`);
    const marks = spec?.taints?.filter(({ key }) => key !== 'room') ?? [];
    for (const { key } of marks) problems.push(`Node ${metadata.name} still has the taint ${key}`);
  }
  return problems;
}

interface Seen {
  type: string;
  object: Pod;
}

/**
 * Follows the pods of a namespace; `end` returns the moments in which one went although that left fewer than `least` ready.
 * Pods that the node lifecycle of Kubernetes takes by itself (it may learn of a pod before it learns that the pod's node
 * has lost the taint it came with) are neither the budget's business nor ours.
 */
export async function watchBudget(cluster: ControlPlane, namespace: string, least: number) {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const ready = new Set<string>();
  const broken: string[] = [];
  const note = ({ type, object }: Seen): void => {
    if (type === 'ERROR') return;
    const { name = '', deletionTimestamp } = object.metadata;
    const stays = type !== 'DELETED' && deletionTimestamp === undefined;
    if (stays && conditionOf(object, 'Ready')?.status === 'True') ready.add(name);
    else if (ready.delete(name) && ready.size < least) {
      const why = stays ? 'is not ready any more' : (conditionOf(object, 'DisruptionTarget')?.reason ?? 'was deleted');
      if (why !== 'DeletionByTaintManager') broken.push(`${name}: ${why}, and only ${ready.size} are ready`);
    }
  };
  const list = async (): Promise<string> => {
    const { body } = await cluster.request('GET', path);
    const { metadata, items } = body as { metadata: { resourceVersion: string }; items: Pod[] };
    const there = new Set(items.map(({ metadata: { name } }) => name));
    for (const name of ready) if (!there.has(name)) ready.delete(name);
    for (const object of items) note({ type: 'ADDED', object });
    return metadata.resourceVersion;
  };
  const stop = new AbortController();
  /** An API server that restarts ends the watch, and may be away for a while. */
  const follow = async (from: string): Promise<void> => {
    for (let version = from; !stop.signal.aborted; version = await list().catch(() => version)) {
      await linesOf(cluster, `${path}?watch=1&resourceVersion=${version}`, stop.signal, (line) =>
        note(JSON.parse(line) as Seen),
      );
      await sleep(200);
    }
  };
  const following = follow(await list());
  return {
    async end(): Promise<string[]> {
      stop.abort();
      await following;
      return broken;
    },
  };
}

/** Every whole line of an answer, until it ends for whatever reason. */
function linesOf(cluster: ControlPlane, path: string, signal: AbortSignal, onLine: (line: string) => void) {
  return new Promise<void>((resolve) => {
    const headers = { authorization: `Bearer ${cluster.token}` };
    const call = request(`${cluster.url}${path}`, { ca: cluster.ca, headers, signal }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) onLine(line);
      });
      answer.on('error', () => {}).on('close', () => resolve());
    });
    call.on('error', () => resolve()).end();
  });
}
