// What `kerf validate` says about one place of one manifest. Findings are data: the terminal report, the JSON report and
// the tests all render or compare the same records.
import type { FieldPath, Manifest } from '../manifests/index.ts';
import type { Severity } from '../output/index.ts';

/** What a rule reports: where, what is wrong, what to write instead. */
export interface Hit {
  path: FieldPath;
  message: string;
  fix?: string;
  /** Only when it differs from the rule's own. */
  severity?: Severity;
}

export interface Finding {
  /** `M09`, or `schema/required` and the like for what no rule explains. */
  rule: string;
  severity: Severity;
  /** True when the API server of a current cluster refuses the manifest for this. */
  strict: boolean;
  file: string;
  line: number;
  column: number;
  /** For samples in a text document: the line of the fence that opens the code block. */
  fence?: number;
  object?: ObjectName;
  field: string;
  message: string;
  fix?: string;
  /** Id in the catalogue of failures that this mistake leads to. */
  failure?: string;
}

export interface ObjectName {
  apiVersion: string;
  kind: string;
  name: string;
}

/** One object under examination. */
export interface Subject {
  manifest: Manifest;
  apiVersion: string;
  group: string;
  version: string;
  kind: string;
  name: string;
  /** The object; for a fragment, an object made around it. */
  value: Record<string, unknown>;
  /** A piece of an object, as documents show them: nothing outside it is missing. `base` is where it belongs. */
  fragment?: { base: FieldPath };
}

/** Where a path of the subject's object stands in its manifest. */
export function pathInManifest(subject: Subject, path: FieldPath): FieldPath {
  const base = subject.fragment?.base;
  if (base === undefined) return path;
  return base.every((part, index) => path[index] === part) ? path.slice(base.length) : [];
}

/** The source lines of a field, comments included. */
export function sourceOf(subject: Subject, path: FieldPath): string {
  return subject.manifest.sourceOf(pathInManifest(subject, path));
}
