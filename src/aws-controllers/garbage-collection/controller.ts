// instance.garbagecollection: an instance of ours that no claim owns is terminated, and its Node deleted. Such instances
// are left when a process dies between the launch and writing it down, or when someone removes a claim's finalizer by
// hand. This is the one place that terminates what no one asked to terminate, so it believes no single answer:
//
// 1. Claims are listed anew from the API server, malformed ones included; cached ones count, too.
// 2. An instance has to look abandoned in two looks, and only a share of the fleet goes per run (`Collection`).
// 3. Right before, the claims that the instance and its Node name are asked for once more, one by one.
import { label, type NodeClaim } from '../../api/index.ts';
import { messageOf, parseTime } from '../../base/index.ts';
import {
  again,
  Collection,
  type Controller,
  type ControllerContext,
  deleteObject,
  untrustedClockMs,
} from '../../controllers/index.ts';
import { type Instance, isCloudError, isKubeError, type Node, resources } from '../../ports/index.ts';
import { Owners } from './owners.ts';

const name = 'instance.garbagecollection';
/** Long enough for a launch to be written down. */
const graceMs = 30_000;
/** Often at first, when an earlier process may have left something, then seldom. */
const hurriedRuns = 20;
const hurriedMs = 10_000;
const everyMs = 120_000;
const parallel = 100;

export function instanceGarbageCollectionController(context: ControllerContext): Controller {
  const { cloud, cluster, clock, kube, metrics, recorder, stored, time } = context;
  const log = context.log.with({ controller: name });
  const collection = new Collection<Instance>({ controller: name, clock, metrics, keyOf: (each) => each.providerID });
  let runs = 0;

  const isAbandoned = (instance: Instance, owners: Owners): boolean =>
    instance.isDeleting !== true &&
    instance.labels[label.nodePool] !== undefined &&
    !owners.own(instance.providerID) &&
    // One that is of no known age may have been launched just now.
    clock.now() - (parseTime(instance.createdAt ?? '') ?? clock.now()) > graceMs;

  const collect = async (instance: Instance): Promise<void> => {
    const { providerID } = instance;
    const nodes = cluster.nodes.filedUnder(providerID);
    const owner = await Owners.named(context, instance, nodes);
    if (owner !== undefined) {
      log.info('keeping instance: its NodeClaim was not listed but is there', {
        'provider-id': providerID,
        NodeClaim: { name: owner },
      });
      return;
    }
    try {
      await cloud.delete({ metadata: {}, spec: {}, status: { providerID } } as unknown as NodeClaim);
    } catch (error) {
      if (!isCloudError(error, 'notFound')) throw error;
    }
    log.debug('garbage collected cloudprovider instance', { 'provider-id': providerID });
    for (const node of nodes) await collectNode(node, providerID);
  };

  /** The Node as it is stored: one of that name that belongs to another machine by now stays. */
  const collectNode = async (cached: Node, providerID: string): Promise<void> => {
    try {
      const node = await stored.get(resources.nodes, { name: cached.metadata.name ?? '' });
      if (node.spec?.providerID !== providerID) return;
      await deleteObject(kube, resources.nodes, node);
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return;
      throw error;
    }
    log.debug('garbage collected node', { Node: { name: cached.metadata.name }, 'provider-id': providerID });
  };

  /** Reported on the pools the instances were launched for. */
  const tellHeldBack = (heldBack: readonly Instance[], due: readonly Instance[], total: number): void => {
    const message = `${heldBack.length + due.length} of ${total} instances have no NodeClaim, more than are terminated at once: ${due.length} go now, the others step by step. If they should live, restore their NodeClaims`;
    log.error('more instances without a NodeClaim than are terminated at once', message);
    for (const pool of new Set(heldBack.map(({ labels }) => labels[label.nodePool] ?? ''))) {
      const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool };
      recorder.publish({ subject, type: 'Warning', reason: 'GarbageCollectionHeldBack', message });
    }
  };

  const collectAll = async (due: Instance[]): Promise<void> => {
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (let each = due.shift(); each !== undefined; each = due.shift())
        await collect(each).catch((error: unknown) => failures.push(error));
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    if (failures.length === 0) return;
    const message = `cannot collect ${failures.length} instances that no NodeClaim owns: ${messageOf(failures[0])}`;
    throw new Error(message, { cause: failures[0] });
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      // Instances first: a claim made while EC2 lists is then known when claims are read.
      const instances = (await cloud.list()).filter(({ isDeleting }) => isDeleting !== true);
      const owners = await Owners.read(context);
      const abandoned = instances.filter((instance) => isAbandoned(instance, owners));
      const { due, heldBack, againMs } = collection.choose(abandoned, instances.length);
      if (heldBack.length > 0) tellHeldBack(heldBack, due, instances.length);
      await collectAll([...due]);
      runs += 1;
      return again(againMs ?? (runs < hurriedRuns ? hurriedMs : everyMs));
    },
  };
}
