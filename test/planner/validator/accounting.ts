// No one lost, no one twice, nothing on machines that cannot take pods, sums that add up.
import type { Plan } from '../../../src/core/index.ts';
import type { Cluster } from '../rules/cluster.ts';
import { podKey } from '../rules/objects.ts';
import { validatePod } from '../rules/pod-validation.ts';

export function accountingViolations(plan: Plan, cluster: Cluster): string[] {
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  const note = (pod: string): void => void seen.set(pod, (seen.get(pod) ?? 0) + 1);
  for (const node of [...plan.newNodes, ...plan.existingNodes]) for (const pod of node.pods) note(pod);
  for (const { pod } of plan.unschedulable) note(pod);
  const waiting = new Set(cluster.waiting.map(podKey));
  for (const pod of waiting) {
    const times = seen.get(pod) ?? 0;
    if (times !== 1) wrong.push(`pod ${pod} occurs ${times} times in the plan`);
  }
  for (const pod of seen.keys()) if (!waiting.has(pod)) wrong.push(`pod ${pod} is in the plan but does not wait`);
  if (plan.pods !== waiting.size) wrong.push(`the plan says ${plan.pods} pods, ${waiting.size} wait`);

  const names = [...plan.newNodes, ...plan.existingNodes].map((node) => node.name);
  for (const name of names)
    if (names.indexOf(name) !== names.lastIndexOf(name)) wrong.push(`node ${name} occurs twice`);
  for (const { name } of plan.existingNodes) {
    const machine = cluster.machines.find((m) => m.name === name);
    if (machine === undefined) wrong.push(`existing node ${name} is not a known machine`);
    else if (machine.leaving) wrong.push(`existing node ${name} is leaving and must not take pods`);
  }
  for (const node of plan.newNodes) if (node.pods.length === 0) wrong.push(`new node ${node.name} has no pods`);

  const placed = new Set([...plan.newNodes, ...plan.existingNodes].flatMap((node) => node.pods));
  for (const pod of cluster.waiting) {
    const verdict = validatePod(pod, cluster);
    if (verdict.kind === 'valid') continue;
    if (placed.has(podKey(pod))) wrong.push(`pod ${podKey(pod)} is placed although it is ${verdict.kind}`);
    const reason = plan.unschedulable.find((entry) => entry.pod === podKey(pod))?.reasons[0]?.code;
    if (reason !== undefined && reason !== verdict.kind) {
      wrong.push(`pod ${podKey(pod)} is ${verdict.kind} but the plan says ${reason}`);
    }
  }
  for (const { pod, reasons } of plan.unschedulable) {
    if (reasons.length === 0) wrong.push(`pod ${pod} has no reason`);
    for (const { code, message } of reasons) if (!code || !message) wrong.push(`pod ${pod} has an empty reason`);
  }
  const sum = plan.newNodes.reduce((total, node) => total + node.chosen.pricePerHour, 0);
  if (Math.abs(sum - plan.pricePerHour) > 1e-6)
    wrong.push(`prices add up to ${sum}, the plan says ${plan.pricePerHour}`);
  return wrong;
}
