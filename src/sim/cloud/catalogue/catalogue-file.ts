// A catalogue in the file format of the KWOK provider: a JSON array of
// `{name, architecture, operatingSystems, resources, offerings: [{Price, Available, Requirements}]}`.
// Field names are read in any case, as Go does; what is missing or of the wrong type is an error naming entry and field.

import { label } from '../../../api/names.ts';
import { KerfError, tryParseQuantity } from '../../../base/index.ts';
import type {
  InstanceTypeSpec,
  OfferingSpec,
  Operator,
  RequirementSpec,
  ResourceQuantities,
} from '../../../core/index.ts';
import { simulatedType } from './simulated-type.ts';

export interface FileCatalogue {
  instanceTypes: InstanceTypeSpec[];
  /** Keys the offerings use; each counts as well known. */
  offeringKeys: string[];
}

const operators: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'];

/** True for a value that has the shape of such a file, whatever its details. */
export function isCatalogueFile(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => fieldOf(entry, 'resources') !== undefined);
}

export function readCatalogueFile(value: unknown, source: string): FileCatalogue {
  const keys = new Set<string>();
  const instanceTypes = list(value, { source, field: '' }).map((entry, index) => {
    const at: Place = { source, field: `[${index}]` };
    const name = text(entry, 'name', at);
    const offerings = list(fieldOf(entry, 'offerings') ?? [], below(at, 'offerings')).map((offering, number) =>
      readOffering(offering, { source, field: `[${index}].offerings[${number}]` }),
    );
    for (const { requirements } of offerings) for (const { key } of requirements) keys.add(key);
    return simulatedType({
      name,
      architecture: text(entry, 'architecture', at),
      operatingSystems: texts(fieldOf(entry, 'operatingSystems'), below(at, 'operatingSystems')),
      resources: readResources(fieldOf(entry, 'resources'), below(at, 'resources')),
      offerings,
    });
  });
  return { instanceTypes, offeringKeys: [...keys].filter((key) => key !== label.zone && key !== label.capacityType) };
}

interface Place {
  source: string;
  field: string;
}

function below(place: Place, name: string): Place {
  return { source: place.source, field: place.field === '' ? name : `${place.field}.${name}` };
}

function refuse(place: Place, what: string): KerfError {
  const where = place.field === '' ? 'the document' : place.field;
  return new KerfError('CatalogueInvalid', `cannot use ${place.source} as a catalogue: ${where} ${what}`, {
    subject: place.source,
  });
}

/** Every offering of a file is for sale: `Available` is not consulted, as in the provider this format comes from. */
function readOffering(value: unknown, place: Place): OfferingSpec {
  const price = fieldOf(value, 'price');
  if (typeof price !== 'number' || !(price >= 0)) throw refuse(below(place, 'Price'), 'must be a price such as 0.096');
  const requirements = list(fieldOf(value, 'requirements') ?? [], below(place, 'Requirements')).map((entry, index) =>
    readRequirement(entry, below(place, `Requirements[${index}]`)),
  );
  return { requirements, price, available: true };
}

function readRequirement(value: unknown, place: Place): RequirementSpec {
  const operator = text(value, 'operator', place);
  if (!operators.includes(operator)) throw refuse(below(place, 'operator'), `must be one of ${operators.join(', ')}`);
  const values = fieldOf(value, 'values');
  const requirement: RequirementSpec = { key: text(value, 'key', place), operator: operator as Operator };
  if (values !== undefined) requirement.values = texts(values, below(place, 'values'));
  return requirement;
}

function readResources(value: unknown, place: Place): ResourceQuantities {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse(place, 'must map resource names to quantities, such as {"cpu": "4", "memory": "16Gi"}');
  }
  const resources: ResourceQuantities = {};
  for (const [name, quantity] of Object.entries(value)) {
    if ((typeof quantity !== 'string' && typeof quantity !== 'number') || tryParseQuantity(quantity) === undefined) {
      throw refuse(below(place, name), 'must be a quantity such as 4, 500m or 16Gi');
    }
    resources[name] = quantity;
  }
  return resources;
}

function list(value: unknown, place: Place): unknown[] {
  if (!Array.isArray(value)) throw refuse(place, 'must be a list');
  return value;
}

function text(value: unknown, name: string, place: Place): string {
  const found = fieldOf(value, name);
  if (typeof found !== 'string' || found === '') throw refuse(below(place, name), 'must be a text');
  return found;
}

function texts(value: unknown, place: Place): string[] {
  const values = list(value, place);
  for (const one of values) if (typeof one !== 'string') throw refuse(place, 'must be a list of texts');
  return values as string[];
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const exact = (value as Record<string, unknown>)[name];
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === lower);
  return key === undefined ? undefined : (value as Record<string, unknown>)[key];
}
