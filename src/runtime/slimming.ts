// Makes objects smaller before a cache keeps them: fields nobody reads are dropped, and parts that are equal in many
// objects (the containers of a Deployment's pods) are kept once. For reflectors' `transform`.
//
// Promises: the object given is not changed; a shared part is equal to the one it stands for. Objects are never mutated
// by anybody (src/ports/kube.ts), so sharing cannot be noticed. The table of shared parts is bounded: when full it is
// emptied, and sharing starts afresh.
import type { KubeObject } from '../ports/index.ts';

export interface SlimmingRules {
  /** Paths such as `status.containerStatuses` or `spec.containers.*.env`; `*` means every element or key. */
  drop?: readonly string[];
  share?: readonly string[];
}

/** Distinct parts remembered: thousands of workloads with a few parts each. */
const mostShared = 50_000;

interface Rule {
  action: 'drop' | 'share' | 'descend';
  inside: Map<string, Rule>;
}

export function slimmer<T extends KubeObject>({ drop = [], share = [] }: SlimmingRules): (object: T) => T {
  const root: Rule = { action: 'descend', inside: new Map() };
  for (const path of share) ruleAt(root, path).action = 'share';
  for (const path of drop) ruleAt(root, path).action = 'drop';
  const shared = new Map<string, unknown>();
  return (object) => slimmed(object, root, shared) as T;
}

function ruleAt(root: Rule, path: string): Rule {
  let rule = root;
  for (const part of path.split('.')) {
    let next = rule.inside.get(part);
    if (next === undefined) {
      next = { action: 'descend', inside: new Map() };
      rule.inside.set(part, next);
    }
    rule = next;
  }
  return rule;
}

function slimmed(value: unknown, rule: Rule, shared: Map<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = rule.inside.size === 0 ? value : descended(value, rule, shared);
  return rule.action === 'share' ? onlyOne(inner, shared) : inner;
}

function descended(value: object, { inside }: Rule, shared: Map<string, unknown>): unknown {
  const every = inside.get('*');
  if (Array.isArray(value)) return every === undefined ? value : value.map((item) => slimmed(item, every, shared));
  const kept: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    const rule = inside.get(key) ?? every;
    if (rule?.action !== 'drop') kept[key] = rule === undefined ? field : slimmed(field, rule, shared);
  }
  return kept;
}

function onlyOne(value: unknown, shared: Map<string, unknown>): unknown {
  const text = JSON.stringify(value);
  const known = shared.get(text);
  if (known !== undefined) return known;
  if (shared.size >= mostShared) shared.clear();
  shared.set(text, value);
  return value;
}
