// Whether a value of a values file fits what the chart's schema says about it, in words. The schema uses a few words of JSON
// Schema only (scripts/chart/own-values.ts), which are the ones known here.
import { isMap } from '../manifests/index.ts';

export interface ValueSchema {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: ValueSchema;
  additionalProperties?: ValueSchema;
}

/** What it must be instead. A value that is null is taken away by Helm before the schema is asked. */
export function misfit(value: unknown, schema: ValueSchema): string | undefined {
  if (value === null) return undefined;
  const { type, enum: choices, pattern, minimum = -Infinity, maximum = Infinity } = schema;
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.some((each) => isOfType(value, each)))
    return `it must be ${types
      .filter((each) => each !== 'null')
      .map((each) => words[each] ?? each)
      .join(' or ')}, and is ${JSON.stringify(value)}`;
  if (choices !== undefined && !choices.includes(value))
    return `it must be one of ${choices.map((each) => JSON.stringify(each)).join(', ')}, and is ${JSON.stringify(value)}`;
  if (typeof value === 'string' && pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `${JSON.stringify(value)} does not match ${pattern}`;
  if (typeof value === 'number' && value < minimum) return `it must be ${minimum} at least, and is ${value}`;
  if (typeof value === 'number' && value > maximum) return `it must be ${maximum} at most, and is ${value}`;
  const [parts, ofParts] = Array.isArray(value)
    ? [Object.entries(value), schema.items]
    : [Object.entries(isMap(value) ? value : {}), schema.additionalProperties];
  for (const [name, part] of ofParts === undefined ? [] : parts) {
    const wrong = misfit(part, ofParts ?? {});
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

const words: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map',
  array: 'a list',
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isMap(value);
    default:
      return typeof value === type;
  }
}
