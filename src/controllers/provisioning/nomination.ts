// Pods that are about to come to an existing node: they are notified where, and disruption stays away from the node meanwhile.
import type { ExistingPlacement } from '../../core/index.ts';
import type { RecordedEvent } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutPod } from '../event-subjects.ts';

/** An existing node that a plan counts on is left alone for at least this long. */
const nominationLeastMs = 10_000;
const nominatedRate = { perSecond: 5, burst: 10 };

/** Pods that only stand for a buffer's room never arrive: no one has to wait for them. */
export async function nominate(context: ControllerContext, placements: readonly ExistingPlacement[]): Promise<void> {
  const { cluster, clock, settings } = context;
  const { store } = cluster.pods;
  const expecting = placements.filter(({ pods }) => pods.some((pod) => store.get(pod) !== undefined));
  const forMs = Math.max(2 * settings.batchMaxDurationMs, nominationLeastMs);
  const machineOf = (name: string) => cluster.machines.ofNode(name) ?? cluster.machines.ofClaim(name);
  for (const { name } of expecting) {
    const machine = machineOf(name);
    if (machine !== undefined) cluster.nominate(machine.key, forMs);
  }
  for (const { name, pods } of expecting) {
    const { claim, node } = machineOf(name) ?? {};
    const parts = [
      ...(claim === undefined ? [] : [`nodeclaim/${claim.metadata.name}`]),
      ...(node === undefined ? [] : [`node/${node.metadata.name}`]),
    ];
    await clock.breathe?.();
    tellPods(context, pods, parts.length === 0 ? `node/${name}` : parts.join(', '));
  }
}

/** `where` is `nodeclaim/x, node/y`, as much of it as exists. */
export function tellPods({ cluster, recorder }: ControllerContext, pods: readonly string[], where: string): void {
  for (const key of pods) {
    const pod = cluster.pods.store.get(key);
    if (pod !== undefined) recorder.publish(nominated(aboutPod(pod), key, where));
  }
}

function nominated(subject: RecordedEvent['subject'], key: string, where: string): RecordedEvent {
  return {
    subject,
    type: 'Normal',
    reason: 'Nominated',
    message: `Pod should schedule on: ${where}`,
    dedupeValues: [subject.uid ?? key, where],
    rateLimit: nominatedRate,
  };
}
