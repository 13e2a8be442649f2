// The rows of a snapshot: the same as of a live cluster, once.
import type { NodeClaim } from '../../api/index.ts';
import { atOnce } from '../../base/index.ts';
import { nodeVerdicts, type PlanOptions, Round, type Snapshot } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { Cluster, isTerminal, PodAmounts } from '../../state/index.ts';
import { nodeFacts, ViewModel } from '../../view/index.ts';

export function modelOf(snapshot: Snapshot, selectors: Pick<PlanOptions, 'compileDeviceSelector'>): ViewModel {
  const cluster = new Cluster(new RealClock());
  let waiting = 0;
  for (const object of snapshot.objects.items) {
    if (object.kind === 'NodeClaim') cluster.setClaim(object as unknown as NodeClaim);
    if (object.kind === 'Node') cluster.setNode(object);
    if (object.kind !== 'Pod') continue;
    const pod = object as unknown as Pod;
    cluster.setPod(pod);
    if (!pod.spec?.nodeName && !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined) waiting += 1;
  }
  const verdicts = new Map(atOnce(nodeVerdicts(Round.of(snapshot, selectors))).map((each) => [each.node, each]));
  const model = new ViewModel();
  const amounts = new PodAmounts();
  for (const machine of cluster.machines.all()) {
    const node = machine.node?.metadata.name ?? '';
    const verdict = verdicts.get(node || (machine.claim?.metadata.name ?? ''));
    const pods = node === '' ? [] : cluster.pods.on(node);
    const { facts, cells } = nodeFacts({ machine, pods, verdict, pricePerHour: 0 }, amounts);
    model.set(facts, cells);
  }
  model.setWaiting(waiting);
  return model;
}
