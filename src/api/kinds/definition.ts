// What a kind is: its names, its schema and how `kubectl get` shows it. One file per kind in this folder; crd.ts turns a
// definition into a CustomResourceDefinition.
import type * as Type from 'typebox';

/** A column of `kubectl get`; the wide ones appear with `-o wide` only. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'date';
  jsonPath: string;
  wide?: boolean;
}

export interface KindDefinition<Spec extends Type.TSchema = Type.TSchema, Status extends Type.TSchema = Type.TSchema> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  category: string;
  namespaced: boolean;
  /** An object without a spec is valid. */
  specIsOptional?: true;
  description: string;
  /** None leaves it to the API server, which shows the age. */
  columns: readonly PrinterColumn[];
  scale?: { specReplicasPath: string; statusReplicasPath: string };
  spec: Spec;
  status: Status;
}

/** Keeps the exact types of the schemas, so that the kind's TypeScript type can be drawn from them. */
export const defineKind = <Spec extends Type.TSchema, Status extends Type.TSchema>(
  definition: KindDefinition<Spec, Status>,
): KindDefinition<Spec, Status> => definition;

/** The status of one condition, by JSON path. */
export const conditionColumn = (name: string, type: string, wide = false): PrinterColumn => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
  wide,
});

export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
