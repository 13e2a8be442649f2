// What must hold whenever a cluster has come to rest: every pod has a place, every machine one claim and one node, and
// nothing is left over from what happened before.
import { resources } from '../../../src/ports/index.ts';
import type { Scenario } from './scenario.ts';

/** What is out of order; empty when all is well. */
export async function disorder({ claims, nodes, list }: Scenario, pods: number, wanted?: number): Promise<string[]> {
  const problems: string[] = [];
  const [allClaims, allNodes, allPods] = [await claims(), await nodes(), await list(resources.pods)];
  const running = allPods.filter(({ status }) => status?.phase === 'Running');
  if (running.length !== pods) problems.push(`${running.length} of ${pods} pods run`);
  if (wanted !== undefined && allNodes.length !== wanted) problems.push(`${allNodes.length} nodes, not ${wanted}`);
  for (const { metadata, status } of allClaims) {
    const mine = allNodes.filter(({ spec }) => spec?.providerID === status?.providerID);
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    if (mine.length !== 1) problems.push(`NodeClaim ${metadata.name} has ${mine.length} nodes`);
    if (isReady !== true) problems.push(`NodeClaim ${metadata.name} is not ready`);
    if (metadata.deletionTimestamp !== undefined) problems.push(`NodeClaim ${metadata.name} is being deleted`);
  }
  for (const { metadata, spec } of allNodes) {
    const mine = allClaims.filter(({ status }) => status?.providerID === spec?.providerID);
    if (mine.length !== 1) problems.push(`Node ${metadata.name} has ${mine.length} claims`);
    if (metadata.deletionTimestamp !== undefined) problems.push(`Node ${metadata.name} is being deleted`);
  }
  return problems;
}
