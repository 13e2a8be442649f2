// The file of `--instance-types`: a catalogue in any of the forms people have at hand. Distinguished by what is inside:
// the KWOK provider's format, an `instanceTypes` list as in a snapshot, or a plain list of instance types for every pool.
import { KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec, PoolInstanceTypes } from '../../core/index.ts';
import { problemsError, type ReadSource, readDocument } from '../snapshot/read-snapshot.ts';
import { checkShape, listOf, type Shape, type ShapeProblem } from '../snapshot/shape.ts';
import { instanceTypeShape, poolInstanceTypesShape } from '../snapshot/snapshot-document.ts';

export interface GivenCatalogue {
  /** Per NodePool, or the same for all. */
  pools?: PoolInstanceTypes[];
  types?: InstanceTypeSpec[];
  /** Label keys that become well known by being used in offerings. */
  offeringKeys: string[];
}

export async function readCatalogue(name: string, source: ReadSource): Promise<GivenCatalogue> {
  const { file, value } = await readDocument(name, source);
  const { isCatalogueFile, readCatalogueFile } = await import('../../sim/index.ts');
  const list = listIn(value);
  if (list === undefined || list.length === 0) {
    throw new KerfError(
      'CatalogueInvalid',
      `cannot use ${file} as a catalogue: expected a list of instance types, or a document with instanceTypes`,
      { subject: file },
    );
  }
  if (isCatalogueFile(list)) {
    const { instanceTypes, offeringKeys } = readCatalogueFile(list, file);
    return { types: instanceTypes, offeringKeys };
  }
  if (list.some((entry) => typeof entry === 'object' && entry !== null && 'nodePool' in entry)) {
    return { pools: await accept<PoolInstanceTypes>(file, list, poolInstanceTypesShape), offeringKeys: [] };
  }
  return { types: await accept<InstanceTypeSpec>(file, list, instanceTypeShape), offeringKeys: [] };
}

function listIn(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const inside = (value as Record<string, unknown>)['instanceTypes'];
  return Array.isArray(inside) ? inside : undefined;
}

async function accept<Entry>(file: string, list: unknown[], shape: Shape): Promise<Entry[]> {
  const problems: ShapeProblem[] = [];
  checkShape(list, listOf(shape), [], problems);
  if (problems.length > 0) {
    throw await problemsError('CatalogueInvalid', 'is not a catalogue', file, problems, () =>
      Promise.resolve(undefined),
    );
  }
  return list as Entry[];
}
