// What a rule of `kerf validate` is. A rule either looks at objects itself (`check`), or puts a name and a remedy to
// what the schema found (`explain`), or needs to have seen everything first (`conclude`). Its texts are also the
// reference page, so they say why and what instead.
import type { FieldPath } from '../../manifests/index.ts';
import type { Severity } from '../../output/index.ts';
import type { Hit, Subject } from '../finding.ts';
import type { Seen } from '../seen.ts';

export interface Rule {
  id: string;
  severity: Severity;
  /** True when the API server of a current cluster refuses such a manifest. */
  strict: boolean;
  /** What people write, in a few words. */
  wrong: string;
  why: string;
  instead: string;
  /** Id in the catalogue of failures that this mistake leads to. */
  failure?: string;
  check?(subject: Subject, context: RuleContext): Iterable<Hit>;
  explain?(problem: SchemaProblem, subject: Subject): Hit | undefined;
  conclude?(seen: Seen): Iterable<{ subject: Subject; hit: Hit }>;
}

export interface RuleContext {
  /** The cluster's Kubernetes minor version (33 for 1.33), when the user gave it. */
  kubernetesMinor: number | undefined;
}

/** One thing the schema found, before a rule explains it. */
export interface SchemaProblem {
  kind: 'required' | 'unknown' | 'enum' | 'pattern' | 'type' | 'range' | 'rule';
  path: FieldPath;
  /** The API server's own words. */
  detail: string;
  value?: unknown;
}
