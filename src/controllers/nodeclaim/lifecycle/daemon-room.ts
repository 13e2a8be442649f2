// Keeps the room of DaemonSets on a new node: a node that was sized with their pods takes no others until those are bound
// (setting keep-daemonset-room). It is cordoned for that, because a cordon is the one thing that DaemonSet pods always
// tolerate; an annotation tells it from a cordon of someone else. Never for long: what does not come must not keep a node.
import { annotation, taint } from '../../../api/index.ts';
import { formatTime, parseTime } from '../../../base/index.ts';
import { daemonsToCome, type SnapshotObject } from '../../../core/index.ts';
import { type Node, resources } from '../../../ports/index.ts';
import type { ControllerContext } from '../../context.ts';
import { snapshotSettings } from '../../planning.ts';
import { patchObject } from '../../writes.ts';

/** DaemonSet pods are created and bound within seconds; one that is not by then would not be for having waited. */
const longestHoldMs = 60_000;
export const lookAgainMs = 1_000;

export interface DaemonRoom {
  /** The node as it is registered: held back if DaemonSets are to run there. */
  held(node: Node): Node;
  /** DaemonSets that the node is held back for; undefined if it is not, or no longer has to be. */
  waitsFor(node: Node): string[] | undefined;
  /** Open for every pod. */
  release(node: Node): Promise<Node>;
}

export const isHeld = ({ metadata }: Node): boolean => metadata.annotations?.[annotation.daemonSetRoom] !== undefined;

export function daemonRoom(context: ControllerContext): DaemonRoom {
  const { cloud, clock, cluster, kube, settings } = context;

  const missing = (node: Node): string[] => {
    const items = [
      ...cluster.context.DaemonSet.list(),
      ...cluster.claims.filedUnder(node.spec?.providerID ?? ''),
      node,
      ...cluster.pods.on(node.metadata.name ?? ''),
    ] as unknown as SnapshotObject[];
    return daemonsToCome(
      {
        apiVersion: 'kerf/v1',
        kind: 'Snapshot',
        settings: snapshotSettings(settings),
        provider: cloud.facts,
        objects: { apiVersion: 'v1', kind: 'List', items },
      },
      node.metadata.name ?? '',
    );
  };

  return {
    held(node) {
      // Whoever cordoned it, it stays so; it is not ours to open.
      if (settings.keepDaemonSetRoom !== true || node.spec?.unschedulable === true) return node;
      if (missing(node).length === 0) return node;
      const annotations = { ...node.metadata.annotations, [annotation.daemonSetRoom]: formatTime(clock.now()) };
      return { ...node, metadata: { ...node.metadata, annotations }, spec: { ...node.spec, unschedulable: true } };
    },
    waitsFor(node) {
      const sinceMs = parseTime(node.metadata.annotations?.[annotation.daemonSetRoom] ?? '');
      const isOver = sinceMs === undefined || clock.now() - sinceMs >= longestHoldMs;
      if (settings.keepDaemonSetRoom !== true || isOver || node.spec?.unschedulable !== true) return undefined;
      const names = missing(node);
      return names.length === 0 ? undefined : names;
    },
    async release(node) {
      const { [annotation.daemonSetRoom]: _since, ...annotations } = node.metadata.annotations ?? {};
      const { unschedulable: _cordon, ...spec } = node.spec ?? {};
      const taints = (spec.taints ?? []).filter(
        ({ key, effect }) => key !== taint.unschedulable.key || effect !== taint.unschedulable.effect,
      );
      const open: Node = { ...node, metadata: { ...node.metadata, annotations }, spec: { ...spec, taints } };
      const written = await patchObject(kube, resources.nodes, node, open, { locked: true });
      cluster.setNode(written);
      return written;
    },
  };
}
