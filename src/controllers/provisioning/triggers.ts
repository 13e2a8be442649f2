// What makes the provisioner plan: a pod that waits, and a node about to lose its pods. Each asks again every ten seconds
// while that is so, because a plan may have failed, or the world may have changed under it.
import { taint } from '../../api/index.ts';
import { type Pod, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { isProvisionable, isTerminating, mayExpectUnknownNode } from '../../state/index.ts';
import { again, type Controller, type ControllerContext, ownKey } from '../context.ts';
import type { PodBatcher } from './pod-batcher.ts';

const askAgainMs = 10_000;

export function podTrigger({ clock, cluster }: ControllerContext, batcher: PodBatcher): Controller {
  const isMakingRoom = (nodeName: string, pod: Pod): boolean =>
    cluster.nodes.get(nodeName) === undefined
      ? mayExpectUnknownNode(pod, clock.now())
      : [...cluster.pods.on(nodeName)].some(isTerminating);
  return {
    name: 'provisioner.trigger.pod',
    sources: [ownKey(resources.pods)],
    reconcile: (key) => {
      const pod = cluster.pods.store.get(key);
      if (pod === undefined || !isProvisionable(pod, () => false)) return Promise.resolve(done);
      // Room is made for it somewhere; when that ends without it, nothing about the pod itself changes.
      if (!isProvisionable(pod, (nodeName) => isMakingRoom(nodeName, pod))) return Promise.resolve(again(askAgainMs));
      cluster.pods.decisions.see(key, clock.now());
      batcher.trigger(pod.metadata.uid ?? key);
      return Promise.resolve(again(askAgainMs));
    },
  };
}

export function nodeTrigger({ cluster }: ControllerContext, batcher: PodBatcher): Controller {
  return {
    name: 'provisioner.trigger.node',
    sources: [ownKey(resources.nodes)],
    reconcile: (key) => {
      const node = cluster.nodes.get(key);
      const { disrupted } = taint;
      const leaving = node?.spec?.taints?.some(
        (each) => each.key === disrupted.key && each.effect === disrupted.effect,
      );
      if (node === undefined || !leaving) return Promise.resolve(done);
      batcher.trigger(node.metadata.uid ?? key);
      return Promise.resolve(again(askAgainMs));
    },
  };
}
