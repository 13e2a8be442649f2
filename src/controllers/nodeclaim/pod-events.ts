// nodeclaim.podevents: writes down on a claim when pods last came to or went from its node, or were resized there, which is what consolidation's
// quiet time counts from. DaemonSet pods come and go with the node and say nothing.
import { formatTime, parseTime } from '../../base/index.ts';
import { isKubeError, type Pod, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { isOwnedByDaemonSet, isTerminal } from '../../state/index.ts';
import { type Controller, type ControllerContext, concurrencyFor, source } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';

/** One write tells of every pod that came within this time. */
const togetherMs = 10_000;

interface PodChange {
  before: Pod | undefined;
  after: Pod | undefined;
}

export function podEventsController(context: ControllerContext): Controller {
  const { clock, cluster, isManaged, kube, settings } = context;

  const lastEventMs = (nodeName: string): number =>
    parseTime(cluster.machines.ofNode(nodeName)?.claim?.status?.lastPodEventTime ?? '') ?? Number.NEGATIVE_INFINITY;

  /** A process that starts hears of every pod; those that the last one wrote down are not news. */
  const isNews = (change: PodChange, nodeName: string): boolean => {
    if (change.before !== undefined || change.after === undefined) return true;
    return boundAtMs(change.after) > lastEventMs(nodeName) + togetherMs;
  };

  return {
    name: 'nodeclaim.podevents',
    sources: [
      source(resources.pods, (change) => {
        const pod = change.after ?? change.before;
        const nodeName = pod?.spec?.nodeName;
        if (pod === undefined || !nodeName || isOwnedByDaemonSet(pod)) return [];
        return isEvent(change) && isNews(change, nodeName) ? [nodeName] : [];
      }),
    ],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(nodeName) {
      const claim = cluster.machines.ofNode(nodeName)?.claim;
      if (claim === undefined || !isManaged(claim.spec.nodeClassRef)) return done;
      if (clock.now() - lastEventMs(nodeName) < togetherMs) return done;
      const body = { status: { lastPodEventTime: formatTime(clock.now()) } };
      try {
        const ref = { name: claim.metadata.name ?? '' };
        cluster.setClaim(await kube.patch(nodeClaims, ref, { type: 'merge', body }, { subresource: 'status' }));
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) throw error;
      }
      return done;
    },
  };
}

/** A pod came, went, or is about to go; anything else that happens to it leaves the node as full as it was. */
function isEvent({ before, after }: PodChange): boolean {
  if (before === undefined || after === undefined) return true;
  const isBound = !before.spec?.nodeName && Boolean(after.spec?.nodeName);
  const isDone = !isTerminal(before) && isTerminal(after);
  const isGoing = before.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined;
  return isBound || isDone || isGoing || isResized(before, after);
}

/** A pod that grew or shrank in place: consolidation may look at the node anew, but not at once. */
function isResized(before: Pod, after: Pod): boolean {
  if (before.spec === after.spec) return false;
  const requests = ({ spec }: Pod): string => {
    // The client's types do not know requests of a pod as a whole yet.
    const { resources: whole } = (spec ?? {}) as { resources?: { requests?: object } };
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
    return JSON.stringify([whole?.requests, ...containers.map(({ resources: own }) => own?.requests)]);
  };
  return requests(before) !== requests(after);
}

function boundAtMs(pod: Pod): number {
  const scheduled = pod.status?.conditions?.find((each) => each.type === 'PodScheduled' && each.status === 'True');
  return parseTime(scheduled?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '') ?? Number.POSITIVE_INFINITY;
}
