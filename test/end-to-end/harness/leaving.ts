// Questions disruption scenarios ask again and again about the nodes of a room: which one is there, is it marked, has
// another taken its place.
import { expect } from 'vitest';
import type { Node } from '../../../src/ports/index.ts';
import { all, conditionOf } from './api.ts';
import type { Room } from './room.ts';

/** One controller works through all rooms, one decision after the other, each with its wait. */
export const patience = 300;

export const nameOf = ({ metadata }: { metadata: { name?: string } }): string => metadata.name ?? '';

export const isTainted = (node: Node): boolean =>
  node.spec?.taints?.some(({ key }) => key === 'karpenter.sh/disrupted') ?? false;

/** Waits until the room has exactly this many nodes, all ready for pods and staying; returns them. */
export function settledNodes(room: Room, count: number): Promise<Node[]> {
  return room.until(
    `${count} nodes, none of them leaving`,
    async () => {
      const nodes = await room.nodes();
      expect(nodes.map(nameOf)).toHaveLength(count);
      expect(await room.claims()).toHaveLength(count);
      for (const node of nodes) {
        expect(node.metadata.deletionTimestamp).toBeUndefined();
        expect(node.metadata.labels?.['karpenter.sh/initialized']).toBe('true');
        expect(isTainted(node)).toBe(false);
      }
      return nodes;
    },
    patience,
  );
}

export async function settledNode(room: Room): Promise<Node> {
  const [node] = await settledNodes(room, 1);
  if (node === undefined) throw new Error('no node');
  return node;
}

/** Waits until none of these nodes is there any more and others are; returns those. */
export function othersThan(room: Room, old: readonly Node[], count = old.length): Promise<Node[]> {
  return room.until(
    `${count} other nodes than ${old.map(nameOf)}`,
    async () => {
      const nodes = await settledNodesNow(room, count);
      for (const node of nodes) expect(old.map(nameOf)).not.toContain(nameOf(node));
      return nodes;
    },
    patience,
  );
}

async function settledNodesNow(room: Room, count: number): Promise<Node[]> {
  const nodes = await room.nodes();
  expect(nodes.map(nameOf)).toHaveLength(count);
  for (const node of nodes) {
    expect(node.metadata.deletionTimestamp).toBeUndefined();
    expect(node.metadata.labels?.['karpenter.sh/initialized']).toBe('true');
  }
  return nodes;
}

/** The node is there, unmarked, for as long as several rounds take. */
export async function keeps(room: Room, node: Node, seconds = 45): Promise<void> {
  const uid = node.metadata.uid;
  await room.stays(`${nameOf(node)} is left alone`, seconds, async () => {
    const now = await room.api.get(all.nodes, nameOf(node));
    expect(now.metadata.uid).toBe(uid);
    expect(now.metadata.deletionTimestamp).toBeUndefined();
    expect(isTainted(now)).toBe(false);
  });
}

/** Waits for an event with this reason and text about the object. */
export function reported(room: Room, about: string, reason: string, text: RegExp): Promise<void> {
  return room.until(
    `event ${reason} on ${about}`,
    async () => {
      const events = await room.events(reason, about);
      expect(events.map(({ message }) => message).join('\n')).toMatch(text);
    },
    patience,
  );
}

/** Waits until the room's only claim has the condition. */
export function claimBecomes(room: Room, type: string, reason: string): Promise<void> {
  return room.until(
    `a claim is ${type}`,
    async () => {
      const found = (await room.claims()).map((claim) => conditionOf(claim, type)).filter((each) => each !== undefined);
      expect(found).toContainEqual(expect.objectContaining({ status: 'True', reason }));
    },
    patience,
  );
}

/** Makes every node of the pool drift: what the template says changes. */
export async function drift(room: Room, pool: string, revision = 'new'): Promise<void> {
  await room.api.patch(all.nodePools, pool, { spec: { template: { metadata: { labels: { revision } } } } });
}

export async function setBudgets(room: Room, pool: string, budgets: object[]): Promise<void> {
  await room.api.patch(all.nodePools, pool, { spec: { disruption: { budgets } } });
}

export async function protect(room: Room, pod: string, value: string | null): Promise<void> {
  const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': value } } };
  await room.api.patch(all.pods, pod, body, { namespace: room.name });
}

/** No two pods of the app on one node. */
export const apart = (app: string) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
});
