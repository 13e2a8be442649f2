// Sets of requirements, one per key, each set existing once per table: equal sets are the same object. A planning run
// sees hundreds of distinct sets and asks the same questions about them millions of times, so the answers (meet,
// compatible, intersects) are remembered on the set, keyed by the other set.
//
// Promises: `meet` is the set of both; `compatible` follows the rules of two kinds of nodes: under `wellKnown` a missing
// well-known label is fine (the node is yet to be made), under `strict` it is not (the node is there).

import {
  acceptsAbsence,
  describeRequirement,
  identityOf,
  intersection,
  intersects,
  type Requirement,
} from './requirement.ts';

export type UndefinedKeys = 'wellKnown' | 'strict';

export interface RequirementSet {
  readonly id: number;
  /** In key order. */
  readonly requirements: readonly Requirement[];
  readonly byKey: ReadonlyMap<string, Requirement>;
  readonly hasMinValues: boolean;
}

/** Made when they are first asked for: most sets are those of instance types, which few questions are about. */
interface Answers {
  meet: Map<RequirementSet, RequirementSet> | undefined;
  wellKnown: Map<RequirementSet, boolean> | undefined;
  strict: Map<RequirementSet, boolean> | undefined;
  intersects: Map<RequirementSet, boolean> | undefined;
}

export class RequirementTable {
  readonly empty: RequirementSet;
  private readonly wellKnown: ReadonlySet<string>;
  private readonly requirements = new Map<string, Requirement>();
  /** Of the requirements kept: their identity texts are long where hundreds of instance types are listed. */
  private readonly identities = new Map<Requirement, string>();
  private readonly sets = new Map<string, RequirementSet>();
  private readonly answers: Answers[] = [];

  constructor(wellKnown: ReadonlySet<string>) {
    this.wellKnown = wellKnown;
    this.empty = this.setOf([]);
  }

  /** The set in which all the given requirements hold. */
  setOf(requirements: Iterable<Requirement>): RequirementSet {
    return this.intern(allOf(requirements));
  }

  /** Like `setOf`, but a set by itself even if there is an equal one: for things that have little in common. */
  setOfItsOwn(requirements: Iterable<Requirement>): RequirementSet {
    const byKey = allOf(requirements);
    return this.newSet(
      [...byKey.keys()].sort().map((key) => byKey.get(key) as Requirement),
      byKey,
    );
  }

  meet(left: RequirementSet, right: RequirementSet): RequirementSet {
    if (left === right || right === this.empty) return left;
    const answers = this.answersOf(left);
    const known = (answers.meet ??= new Map());
    let result = known.get(right);
    if (result === undefined) {
      const byKey = new Map(left.byKey);
      for (const requirement of right.requirements) {
        const existing = byKey.get(requirement.key);
        byKey.set(
          requirement.key,
          existing && existing !== requirement ? intersection(requirement, existing) : requirement,
        );
      }
      result = this.intern(byKey);
      known.set(right, result);
    }
    return result;
  }

  /** The set with one requirement replaced, whatever it was. */
  replace(set: RequirementSet, requirement: Requirement): RequirementSet {
    return this.intern(new Map(set.byKey).set(requirement.key, requirement));
  }

  without(set: RequirementSet, keys: readonly string[]): RequirementSet {
    const byKey = new Map(set.byKey);
    for (const key of keys) byKey.delete(key);
    return this.intern(byKey);
  }

  /** Whether something that satisfies `existing` can satisfy `incoming` too. */
  compatible(existing: RequirementSet, incoming: RequirementSet, undefinedKeys: UndefinedKeys): boolean {
    if (incoming === this.empty) return true;
    const answers = this.answersOf(existing);
    const known = (answers[undefinedKeys] ??= new Map());
    let result = known.get(incoming);
    if (result === undefined) {
      result =
        this.undefinedKey(existing, incoming, undefinedKeys) === undefined &&
        this.computeIntersects(existing, incoming);
      known.set(incoming, result);
    }
    return result;
  }

  /** Whether the shared keys agree; keys only one side has do not matter. */
  intersects(existing: RequirementSet, incoming: RequirementSet): boolean {
    const answers = this.answersOf(existing);
    const known = (answers.intersects ??= new Map());
    let result = known.get(incoming);
    if (result === undefined) {
      result = this.computeIntersects(existing, incoming);
      known.set(incoming, result);
    }
    return result;
  }

  /** Like `intersects`, but not remembered: for pairs that are asked about once. */
  computeIntersects(existing: RequirementSet, incoming: RequirementSet): boolean {
    const [fewer, more] =
      existing.requirements.length <= incoming.requirements.length ? [existing, incoming] : [incoming, existing];
    for (const requirement of fewer.requirements) {
      const other = more.byKey.get(requirement.key);
      if (other !== undefined && other !== requirement && !agree(requirement, other)) return false;
    }
    return true;
  }

  /** Like `compatible`, but not remembered. */
  computeCompatible(existing: RequirementSet, incoming: RequirementSet, undefinedKeys: UndefinedKeys): boolean {
    return (
      this.undefinedKey(existing, incoming, undefinedKeys) === undefined && this.computeIntersects(existing, incoming)
    );
  }

  /** Why `compatible` says no, in words; undefined if it says yes. */
  incompatibility(
    existing: RequirementSet,
    incoming: RequirementSet,
    undefinedKeys: UndefinedKeys,
  ): string | undefined {
    const missing = this.undefinedKey(existing, incoming, undefinedKeys);
    if (missing !== undefined) {
      return `label "${missing}" does not have known values${this.hint(existing, missing, undefinedKeys)}`;
    }
    const errors: string[] = [];
    for (const requirement of incoming.requirements) {
      const other = existing.byKey.get(requirement.key);
      if (other !== undefined && !agree(other, requirement)) {
        errors.push(`key ${requirement.key}, ${describeRequirement(requirement)} not in ${describeRequirement(other)}`);
      }
    }
    return errors.length === 0 ? undefined : errors.join('; ');
  }

  /** Whether a node that satisfies the set has, or will have, the label. */
  defines(set: RequirementSet, key: string, undefinedKeys: UndefinedKeys): boolean {
    return set.byKey.has(key) || (undefinedKeys === 'wellKnown' && this.wellKnown.has(key));
  }

  /** The keys of `incoming` that speak against `existing`. */
  conflictingKeys(existing: RequirementSet, incoming: RequirementSet, undefinedKeys: UndefinedKeys): string[] {
    const missing = this.undefinedKey(existing, incoming, undefinedKeys);
    if (missing !== undefined) return [missing];
    return incoming.requirements
      .filter((requirement) => {
        const other = existing.byKey.get(requirement.key);
        return other !== undefined && !agree(other, requirement);
      })
      .map((requirement) => requirement.key);
  }

  private undefinedKey(existing: RequirementSet, incoming: RequirementSet, mode: UndefinedKeys): string | undefined {
    for (const requirement of incoming.requirements) {
      const { key } = requirement;
      if (!this.defines(existing, key, mode) && !acceptsAbsence(requirement)) return key;
    }
    return undefined;
  }

  private hint(existing: RequirementSet, key: string, mode: UndefinedKeys): string {
    const slash = key.indexOf('/');
    const suffix = slash < 0 ? key : key.slice(slash + 1);
    const candidates = [
      ...(mode === 'wellKnown' ? [...this.wellKnown].sort() : []),
      ...existing.requirements.map((own) => own.key),
    ];
    const meant = candidates.find((candidate) => candidate.includes(key) || candidate.endsWith(suffix));
    return meant === undefined ? '' : ` (typo of "${meant}"?)`;
  }

  /** Takes the map over: it becomes the set's own. */
  private intern(byKey: Map<string, Requirement>): RequirementSet {
    const keys = [...byKey.keys()].sort();
    let identity = '';
    const requirements: Requirement[] = [];
    for (const key of keys) {
      const requirement = this.internRequirement(byKey.get(key) as Requirement);
      byKey.set(key, requirement);
      requirements.push(requirement);
      identity += `${this.identities.get(requirement)};`;
    }
    let set = this.sets.get(identity);
    if (set === undefined) {
      set = this.newSet(requirements, byKey);
      this.sets.set(identity, set);
    }
    return set;
  }

  private newSet(requirements: readonly Requirement[], byKey: ReadonlyMap<string, Requirement>): RequirementSet {
    const hasMinValues = requirements.some(({ minValues }) => minValues !== undefined);
    const set = { id: this.answers.length, requirements, byKey, hasMinValues };
    this.answers.push({ meet: undefined, wellKnown: undefined, strict: undefined, intersects: undefined });
    return set;
  }

  /** The one object for all equal requirements, so that they compare by reference. */
  internRequirement(requirement: Requirement): Requirement {
    if (this.identities.has(requirement)) return requirement;
    const identity = identityOf(requirement);
    const known = this.requirements.get(identity);
    if (known !== undefined) return known;
    this.requirements.set(identity, requirement);
    this.identities.set(requirement, identity);
    return requirement;
  }

  private answersOf(set: RequirementSet): Answers {
    return this.answers[set.id] as Answers;
  }
}

/** By key; several requirements on one key are intersected. */
function allOf(requirements: Iterable<Requirement>): Map<string, Requirement> {
  const byKey = new Map<string, Requirement>();
  for (const requirement of requirements) {
    const existing = byKey.get(requirement.key);
    byKey.set(requirement.key, existing ? intersection(requirement, existing) : requirement);
  }
  return byKey;
}

/** The set as text, its parts sorted; the host name is never part of it. */
export function describeSet(set: RequirementSet): string {
  return set.requirements.map(describeRequirement).sort().join(', ');
}

function agree(existing: Requirement, incoming: Requirement): boolean {
  return intersects(existing, incoming) || (acceptsAbsence(existing) && acceptsAbsence(incoming));
}
