// Makes objects smaller before a cache keeps them: unread fields are dropped, and parts that are equal in many objects
// (the containers of a Deployment's pods) are kept once. For reflectors' `transform`.
//
// Promises: the object given is not changed; a shared part is equal to the one it stands for.
import type { KubeObject } from '../ports/index.ts';
import { SharedParts } from './shared-parts.ts';

export interface SlimmingRules {
  /** Paths such as `status.containerStatuses` or `spec.containers.*.env`; `*` means every element or key. */
  drop?: readonly string[];
  /** Paths of objects, lists or strings. */
  share?: readonly string[];
  /** What to keep of the list at a path; undefined drops it. Goes before the other rules inside the list. */
  sift?: Readonly<Record<string, (list: readonly unknown[]) => readonly unknown[] | undefined>>;
}

interface Rule {
  action: 'drop' | 'share' | 'descend';
  sift?: (list: readonly unknown[]) => readonly unknown[] | undefined;
  inside: Map<string, Rule>;
  /** Makes the objects at this path. */
  Kept: new () => Fields;
}

type Fields = Record<string, unknown>;

/** A rule with nothing inside yet. */
const newRule = (): Rule => ({ action: 'descend', inside: new Map(), Kept: plainObjects() });

/**
 * Plain objects by a constructor of their own: V8 learns from the first how many fields they have and keeps these in the
 * object. A literal has room for four, and the others go to an array of its own, with room to spare.
 */
function plainObjects(): new () => Fields {
  function Kept(): void {}
  Kept.prototype = Object.prototype;
  return Kept as unknown as new () => Fields;
}

/** Slims an object; `before` is its last state, as slimmed then, with which most of it is shared. */
export type Slimming<T> = (object: T, before?: T) => T;

export function slimmer<T extends KubeObject>({ drop = [], share = [], sift = {} }: SlimmingRules): Slimming<T> {
  const root = newRule();
  for (const path of share) ruleAt(root, path).action = 'share';
  for (const path of drop) ruleAt(root, path).action = 'drop';
  for (const [path, keep] of Object.entries(sift)) ruleAt(root, path).sift = keep;
  const shared = new SharedParts();
  return (object, before) => slimmed(object, before, root, shared) as T;
}

function ruleAt(root: Rule, path: string): Rule {
  let rule = root;
  for (const part of path.split('.')) {
    let next = rule.inside.get(part);
    if (next === undefined) {
      next = newRule();
      rule.inside.set(part, next);
    }
    rule = next;
  }
  return rule;
}

function slimmed(value: unknown, before: unknown, rule: Rule, shared: SharedParts): unknown {
  if (typeof value === 'string') return rule.action === 'share' ? shared.one(value, before) : value;
  if (typeof value !== 'object' || value === null) return value;
  const inner = rule.inside.size === 0 ? value : descended(value, before, rule, shared);
  return rule.action === 'share' ? shared.one(inner, before) : inner;
}

function descended(value: object, before: unknown, { inside, Kept }: Rule, shared: SharedParts): object {
  const every = inside.get('*');
  if (Array.isArray(value)) {
    return every === undefined ? value : value.map((item) => slimmed(item, undefined, every, shared));
  }
  const last = typeof before === 'object' && before !== null ? (before as Fields) : undefined;
  const kept = new Kept();
  for (const key in value) {
    const rule = inside.get(key) ?? every;
    if (rule?.action === 'drop') continue;
    let field = (value as Fields)[key];
    if (rule?.sift !== undefined && Array.isArray(field)) field = rule.sift(field);
    if (field !== undefined) kept[key] = rule === undefined ? field : slimmed(field, last?.[key], rule, shared);
  }
  return kept;
}
