// What must hold in a room that has come to rest, and what must hold all the while.
import { request } from 'node:https';
import type { ControlPlane } from '../../setup/control-plane.ts';
import { conditionOf } from './api.ts';
import type { Room } from './room.ts';

/** What is out of order when `pods` pods should run; empty when all is well. */
export async function disorderIn(room: Room, pods: number): Promise<string[]> {
  const problems: string[] = [];
  const [claims, nodes, ready, all] = [await room.claims(), await room.nodes(), await room.ready(), await room.pods()];
  if (ready.length !== pods || all.length !== pods) problems.push(`${ready.length} of ${all.length} pods are ready`);
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
  }
  return problems;
}

interface WatchedPod {
  type: string;
  object: { metadata: { name: string; deletionTimestamp?: string }; status?: unknown };
}

/** Follows the pods of a namespace; `end` returns the moments in which fewer than `least` were ready. */
export async function watchReady(
  cluster: ControlPlane,
  namespace: string,
  least: number,
): Promise<{ end(): Promise<string[]> }> {
  const ready = new Set<string>();
  const broken: string[] = [];
  const note = ({ type, object }: WatchedPod): void => {
    const { name, deletionTimestamp } = object.metadata;
    const isReady =
      type !== 'DELETED' && deletionTimestamp === undefined && conditionOf(object, 'Ready')?.status === 'True';
    if (isReady) ready.add(name);
    else if (ready.delete(name) && ready.size < least)
      broken.push(`${new Date().toISOString()}: only ${ready.size} pods are ready`);
  };
  const { body } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/pods`);
  const { metadata, items } = body as { metadata: { resourceVersion: string }; items: WatchedPod['object'][] };
  for (const object of items) note({ type: 'ADDED', object });
  const path = `/api/v1/namespaces/${namespace}/pods?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const stream = request(`${cluster.url}${path}`, {
    ca: cluster.ca,
    headers: { authorization: `Bearer ${cluster.token}` },
  });
  let isOver = false;
  stream.on('error', (error) => {
    if (!isOver) broken.push(`the watch ended: ${error.message}`);
  });
  stream.on('response', (answer) => {
    let rest = '';
    answer.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) note(JSON.parse(line) as WatchedPod);
    });
    answer.on('error', () => {});
  });
  stream.end();
  return {
    async end() {
      isOver = true;
      stream.destroy();
      return broken;
    },
  };
}
