// Whether the policy of a KMS key lets a role have EC2 encrypt volumes with it. A policy either names the role, or hands the
// decision to the IAM policies of the account (its root), or leaves both out: then no IAM policy helps. What cannot be decided
// from here (conditions on tags or organizations, exceptions by NotPrincipal) counts neither as refused nor as allowed.
import { at, isPlain, type Plain, textAt, textsAt } from './fields.ts';
import { coversAction, isAllow, matches, statementsOf } from './iam-policy.ts';

export interface KeyUser {
  /** ARN of the role, or of its session; empty when it is unknown. */
  roleArn: string;
  account: string;
  region: string;
}

export type KeyUse =
  | { kind: 'allowed' }
  /** By the IAM policies of the account. */
  | { kind: 'delegated' }
  | { kind: 'unknown' }
  /** `sid`: the statement that refuses it, or would allow it if its condition were met. */
  | { kind: 'refused'; action: string; why: string; sid?: string };

/** Without these no encrypted volume is made at a launch. */
const needed = ['kms:CreateGrant', 'kms:GenerateDataKeyWithoutPlaintext'];

type Fit = 'yes' | 'no' | 'maybe';

export function keyUseOf(policy: Plain, user: KeyUser): KeyUse {
  const uses = needed.map((action) => useOf(statementsOf(policy), user, action));
  return (
    uses.find(({ kind }) => kind === 'refused') ??
    uses.find(({ kind }) => kind === 'unknown') ??
    uses.find(({ kind }) => kind === 'delegated') ?? { kind: 'allowed' }
  );
}

function useOf(statements: readonly Plain[], user: KeyUser, action: string): KeyUse {
  let best: KeyUse | undefined;
  let missed: { why: string; sid: string } | undefined;
  for (const statement of statements) {
    if (!touches(statement, action)) continue;
    const sid = textAt(statement, 'Sid');
    const who = principalFit(statement, user);
    const condition = conditionFit(statement, user, action);
    const fit = worst(who.fit, condition.fit, at(statement, 'NotAction') === undefined ? 'yes' : 'maybe');
    if (!isAllow(statement)) {
      if (fit === 'yes') return { kind: 'refused', action, why: 'a statement denies it', ...(sid ? { sid } : {}) };
      if (fit === 'maybe') best = { kind: 'unknown' };
    } else if (fit === 'no') {
      if (who.fit !== 'no') missed = { why: condition.why, sid };
    } else if (best?.kind !== 'unknown' && best?.kind !== 'allowed') {
      best = fit === 'maybe' ? { kind: 'unknown' } : who.isRoot ? { kind: 'delegated' } : { kind: 'allowed' };
    }
  }
  if (best !== undefined) return best;
  if (missed !== undefined)
    return { kind: 'refused', action, why: missed.why, ...(missed.sid ? { sid: missed.sid } : {}) };
  return { kind: 'refused', action, why: 'it names neither the account nor the role that launches' };
}

function touches(statement: Plain, action: string): boolean {
  const not = at(statement, 'NotAction');
  if (not === undefined) return coversAction(statement, action);
  return !coversAction({ Action: not }, action);
}

function principalFit(statement: Plain, { roleArn, account }: KeyUser): { fit: Fit; isRoot: boolean } {
  if (at(statement, 'NotPrincipal') !== undefined) return { fit: 'maybe', isRoot: false };
  const principal = at(statement, 'Principal');
  const names = principal === '*' ? ['*'] : textsAt(principal, 'AWS');
  if (names.includes('*')) return { fit: 'yes', isRoot: false };
  const role = roleNameOf(roleArn);
  const isRole = (name: string): boolean =>
    name === roleArn || (name.includes(`:${account}:`) && name.includes('role/') && roleNameOf(name) === role);
  if (role !== '' && names.some(isRole)) return { fit: 'yes', isRoot: false };
  if (names.some((name) => name === account || name.endsWith(`::${account}:root`))) return { fit: 'yes', isRoot: true };
  // Someone of the account is named; whether it is who launches is unknown. So is whom a unique id stands for.
  const isOpen = role === '' && names.some((name) => name.includes(`:${account}:role/`) && !isServiceRole(name));
  return { fit: isOpen || names.some((name) => /^A(?:RO|ID)A/.test(name)) ? 'maybe' : 'no', isRoot: false };
}

/** Without its path: sessions (`assumed-role/<role>/<session>`) do not show it. */
export function roleNameOf(arn: string): string {
  const path = arn.split('/');
  return (path[0]?.endsWith(':assumed-role') ? path[1] : path.at(-1)) ?? '';
}

const isServiceRole = (name: string): boolean => name.includes(':role/aws-service-role/');

/** Keys whose value at a launch is known, each with that value and what is wrong when it differs. */
function conditionFit(statement: Plain, user: KeyUser, action: string): { fit: Fit; why: string } {
  const condition = at(statement, 'Condition');
  if (!isPlain(condition)) return { fit: 'yes', why: '' };
  let found: { fit: Fit; why: string } = { fit: 'yes', why: '' };
  for (const [operator, keys] of Object.entries(condition))
    for (const key of isPlain(keys) ? Object.keys(keys) : []) {
      const wanted = textsAt(keys, key);
      const fit = keyFit({ operator, key, wanted }, user, action);
      if (worst(fit, found.fit) !== found.fit)
        found = { fit, why: `its condition ${key} is ${wanted.join(', ')}, which is not so at a launch here` };
    }
  return found;
}

function keyFit(
  { operator, key, wanted }: { operator: string; key: string; wanted: readonly string[] },
  user: KeyUser,
  action: string,
): Fit {
  const given = valueOf(key.toLowerCase(), user, action);
  if (given === undefined || !/^(?:String|Arn)(?:Equals|Like)(?:IgnoreCase)?$|^Bool$/.test(operator)) return 'maybe';
  return wanted.some((one) => matches(one, given)) ? 'yes' : 'no';
}

function valueOf(key: string, { roleArn, account, region }: KeyUser, action: string): string | undefined {
  // Unknown regions are written as a shell variable; those of China have a name of their own.
  if (key === 'kms:viaservice') return /^(?!cn-)[a-z]/.test(region) ? `ec2.${region}.amazonaws.com` : undefined;
  if (key === 'kms:calleraccount' || key === 'aws:principalaccount') return account;
  if (key === 'kms:grantisforawsresource') return action === 'kms:CreateGrant' ? 'true' : undefined;
  // An ARN without its path, as sessions show it, cannot be compared with one.
  if (key === 'aws:principalarn' && roleArn !== '' && !roleArn.includes(':assumed-role/')) return roleArn;
  return undefined;
}

const order: readonly Fit[] = ['no', 'maybe', 'yes'];
const worst = (...fits: readonly Fit[]): Fit => order.find((one) => fits.includes(one)) ?? 'yes';
