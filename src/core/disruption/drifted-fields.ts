// What about a node is no longer as its NodePool asks, field by field: the claim carries a copy of the template it was made
// from. What the provider finds (images, subnets, the node class) is named by its reason alone.
import type { NodeClaim, NodePool } from '../kube/objects.ts';
import { describeTaint } from '../kube/taints.ts';
import { acceptsAbsence, allows, requirementOf } from '../requirements/requirement.ts';

type Value = object | string | number | undefined;

/** One text per field; the requirements of the pool are compared with the claim's labels. */
export function driftedFields(pool: NodePool, claim: NodeClaim): string[] {
  const { metadata = {}, spec: wanted = {} } = pool.spec?.template ?? {};
  const had = claim.spec ?? {};
  const fields: string[] = [];
  const compare = (field: string, was: Value, now: Value): void => {
    const [before, after] = [textOf(was), textOf(now)];
    if (before !== after) fields.push(`${field}: was ${before}, now ${after}`);
  };
  for (const [kind, asked] of Object.entries({ labels: metadata.labels, annotations: metadata.annotations })) {
    const has = kind === 'labels' ? claim.metadata.labels : claim.metadata.annotations;
    for (const [key, value] of Object.entries(asked ?? {})) compare(`${kind}[${key}]`, has?.[key], value);
  }
  compare('taints', had.taints?.map(describeTaint), wanted.taints?.map(describeTaint));
  compare('startupTaints', had.startupTaints?.map(describeTaint), wanted.startupTaints?.map(describeTaint));
  compare('expireAfter', had.expireAfter, wanted.expireAfter);
  compare('terminationGracePeriod', had.terminationGracePeriod, wanted.terminationGracePeriod);
  compare('nodeClassRef', had.nodeClassRef?.name, wanted.nodeClassRef?.name);
  for (const { key, operator, values } of wanted.requirements ?? []) {
    const value = claim.metadata.labels?.[key];
    const requirement = requirementOf(key, operator, values);
    if (value === undefined ? acceptsAbsence(requirement) : allows(requirement, value)) continue;
    const asks = `${operator}${values === undefined || values.length === 0 ? '' : ` ${values.join(', ')}`}`;
    fields.push(`requirement ${key}: was ${value ?? 'none'}, now ${asks}`);
  }
  return fields;
}

function textOf(value: Value): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
