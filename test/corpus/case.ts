// A manifest and what an API server with our CustomResourceDefinitions must say to it. The same tables are run against our
// own validator and against a real API server; messages are compared by the part given here.

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: unknown;
  status?: unknown;
}

export interface Rejection {
  /** The field of one of the errors, as the API server writes it. */
  field: string;
  /** A part of that error's message. */
  message: string;
}

export interface CorpusCase {
  /** A sentence about what is tried; unique. */
  name: string;
  /** The rule it belongs to. */
  rule: string;
  manifest: Manifest;
  /** The object as stored before; then the manifest is an update of it. */
  update?: Manifest;
  /** The write goes to this subresource. */
  subresource?: 'status';
  expect: 'accept' | Rejection;
  /** Values the stored object must have afterwards, by path: defaults, mostly. */
  stored?: Record<string, unknown>;
}

export type Case = Omit<CorpusCase, 'rule'>;

/** Cases of one rule, from functions that say what to expect. */
export const underRule = (rule: string, ...cases: Case[]): CorpusCase[] => cases.map((each) => ({ ...each, rule }));

export const accept = (name: string, manifest: Manifest, more: Partial<Case> = {}): Case => ({
  name,
  manifest,
  expect: 'accept',
  ...more,
});

export const reject = (
  name: string,
  manifest: Manifest,
  field: string,
  message: string,
  more: Partial<Case> = {},
): Case => ({ name, manifest, expect: { field, message }, ...more });

/** One case per value, named after it. */
export const each = <T>(values: readonly T[], make: (value: T) => Case): Case[] => values.map(make);

export const shown = (value: unknown): string => JSON.stringify(value);
