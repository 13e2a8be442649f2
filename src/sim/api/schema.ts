// The fields of built-in kinds (data/schemas.json) and what decoding does with them: wrong types are refused in the words
// of Go's decoder, unknown fields are dropped and reported, empty values appear or vanish as they do on the real wire.
import { formatQuantity, tryParseQuantity } from '../../base/index.ts';
import schemas from '../data/schemas.json' with { type: 'json' };
import { isObject, type JsonObject } from '../json.ts';
import { badRequest } from './status.ts';

export type FieldType =
  | string
  | { list: FieldType; mergeKey?: string; strategy?: string; keys?: string[]; set?: boolean }
  | { map: FieldType; atomic?: boolean }
  | { ref: string; strategy: string };

/** Protobuf field numbers; a nested table is a message whose fields JSON shows inline. */
export type Wire = { [number: string]: string | Wire };

export interface Definition {
  fields: Record<string, FieldType>;
  wire: Wire;
  /** Dropped when empty. */
  empty?: string[];
  /** Present even when no one set them. */
  always?: Record<string, unknown>;
  required?: string[];
  atomic?: boolean;
}

const definitions = schemas as unknown as Record<string, Definition>;
// Users name fields; `constructor` must not be found where no one put it.
for (const { fields } of Object.values(definitions)) Object.setPrototypeOf(fields, null);

/** `@name`, as fields refer to an object with fields, and the name: taken apart once, since every field is looked up here. */
const structNames = new Map(Object.keys(definitions).map((name) => [`@${name}`, name]));

export function definitionOf(name: string): Definition {
  const definition = definitions[name];
  if (definition === undefined) throw new Error(`no schema named ${name} in data/schemas.json`);
  return definition;
}

/** The definition a field leads to, if it holds an object with fields. */
export function structOf(type: FieldType | undefined): Definition | undefined {
  const name = typeof type === 'object' && 'ref' in type ? type.ref : type;
  return typeof name === 'string' && name.startsWith('@') ? definitionOf(name.slice(1)) : undefined;
}

/** Brings `value` into the form of the wire, in place, and returns the paths of unknown fields. */
export function decode(kind: string, version: string, schema: string, value: JsonObject): string[] {
  const decoder = new Decoder(kind, version, true);
  decoder.struct(schema, value);
  return decoder.unknown;
}

/** Only writes values in their canonical form (`0.5` cpu is `500m`); adds and drops nothing but what is unknown. */
export function canonicalize(kind: string, version: string, schema: string, value: JsonObject): void {
  new Decoder(kind, version, false).struct(schema, value);
}

/** How the API server introduces any trouble with the form of a body. */
export const cannotHandle = (kind: string, version: string, why: string) =>
  badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);

const quantityPattern = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Canonical spellings met so far: clusters repeat a few quantities endlessly. */
const canonical = new Map<string, string>();
/** Times met so far that are written as they should be. */
const wholeSeconds = new Set<string>();

class Decoder {
  readonly unknown: string[] = [];
  private readonly kind: string;
  private readonly version: string;
  private readonly complete: boolean;
  /** The way to where the decoder is: fields, places in lists, keys of maps. Only read when something is wrong. */
  private readonly trail: (string | number | { key: string })[] = [];

  constructor(kind: string, version: string, complete: boolean) {
    this.kind = kind;
    this.version = version;
    this.complete = complete;
  }

  struct(name: string, value: JsonObject): void {
    const definition = definitionOf(name);
    const { fields, always, empty } = definition;
    for (const key in value) {
      const type = fields[key];
      this.trail.push(key);
      if (type === undefined) {
        this.unknown.push(this.shown());
        delete value[key];
      } else if (value[key] === null || value[key] === undefined) delete value[key];
      else value[key] = this.value(type, value[key], name);
      this.trail.pop();
    }
    if (empty !== undefined && this.complete)
      for (const key of empty) if (key in value && isEmpty(value[key])) delete value[key];
    if (always === undefined || !this.complete) return;
    for (const key in always) {
      const zero = always[key];
      // An empty list or map that is always shown is shown as null.
      if (key in value && !(zero === null && typeof value[key] === 'object' && isEmpty(value[key]))) continue;
      value[key] = isObject(zero) ? this.value(fields[key] as FieldType, {}, name) : zero;
    }
  }

  private value(type: FieldType, value: unknown, struct: string): unknown {
    if (typeof type === 'string') {
      const name = structNames.get(type);
      if (name === undefined) return this.scalar(type, value, struct);
      if (!isObject(value)) this.mismatch(value, struct, goName(name));
      this.struct(name, value);
      return value;
    }
    if ('ref' in type) return this.value(type.ref, value, struct);
    if ('list' in type) {
      if (!Array.isArray(value)) this.mismatch(value, struct, goType(type));
      const items = value as unknown[];
      for (let index = 0; index < items.length; index += 1) {
        this.trail.push(index);
        items[index] = this.value(type.list, items[index] ?? zeroOf(type.list), struct);
        this.trail.pop();
      }
      return items;
    }
    if (!isObject(value)) this.mismatch(value, struct, goType(type));
    const map = value;
    for (const key in map) {
      this.trail.push({ key });
      map[key] = this.value(type.map, map[key] ?? zeroOf(type.map), struct);
      this.trail.pop();
    }
    return map;
  }

  private scalar(type: string, value: unknown, struct: string): unknown {
    switch (type) {
      case 'string':
      case 'bytes':
        if (typeof value !== 'string') this.mismatch(value, struct, type === 'bytes' ? '[]uint8' : 'string');
        return value;
      case 'boolean':
        if (typeof value !== 'boolean') this.mismatch(value, struct, 'bool');
        return value;
      case 'int32':
      case 'int64':
        if (!Number.isInteger(value)) this.mismatch(value, struct, type);
        return value;
      case 'double':
        if (typeof value !== 'number') this.mismatch(value, struct, 'float64');
        return value;
      case 'quantity':
        return this.quantity(value);
      case 'intOrString':
        if (typeof value !== 'string' && !Number.isInteger(value)) this.mismatch(value, struct, 'int32');
        return value;
      case 'time':
      case 'microTime':
        return this.time(type, value, struct);
      default:
        return value;
    }
  }

  private quantity(value: unknown): string {
    const text = typeof value === 'number' ? String(value) : value;
    const known = typeof text === 'string' ? canonical.get(text) : undefined;
    if (known !== undefined) return known;
    const quantity = typeof text === 'string' ? tryParseQuantity(text) : undefined;
    if (quantity === undefined) throw cannotHandle(this.kind, this.version, quantityPattern);
    const printed = formatQuantity(quantity);
    if (canonical.size > 10_000) canonical.clear();
    canonical.set(text as string, printed);
    return printed;
  }

  private time(type: string, value: unknown, struct: string): string {
    if (typeof value !== 'string') this.mismatch(value, struct, 'string');
    const text = value;
    if (type === 'time' && wholeSeconds.has(text)) return text;
    const layout = type === 'time' ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00';
    const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text);
    const ms = match === null ? Number.NaN : Date.parse(text);
    if (match === null || Number.isNaN(ms)) {
      throw cannotHandle(
        this.kind,
        this.version,
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse "${text}" as "2006"`,
      );
    }
    if (type === 'microTime' && match[2]?.length !== 6) {
      const rest = text.slice(19);
      throw cannotHandle(
        this.kind,
        this.version,
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse "${rest}" as ".000000"`,
      );
    }
    const whole = new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19);
    if (text === `${whole}Z` && type === 'time') {
      if (wholeSeconds.size > 10_000) wholeSeconds.clear();
      wholeSeconds.add(text);
    }
    return type === 'time' ? `${whole}Z` : `${whole}.${(match[2] ?? '').padEnd(6, '0').slice(0, 6)}Z`;
  }

  /** Where the decoder is, as people write it. */
  private shown(): string {
    return this.trail.reduce<string>((path, step) => {
      if (typeof step === 'number') return `${path}[${step}]`;
      const key = typeof step === 'string' ? step : step.key;
      return path === '' ? key : `${path}.${key}`;
    }, '');
  }

  private mismatch(value: unknown, struct: string, wanted: string): never {
    // As Go tells it: fields only, without the places in lists and maps.
    const path = this.trail.filter((step) => typeof step === 'string').join('.');
    const found = Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'number' && wanted.startsWith('int')
          ? `number ${String(value)}`
          : typeof value;
    const where =
      path === ''
        ? `Go value of type ${wanted}`
        : `Go struct field ${struct.split('.').at(-1)}.${path} of type ${wanted}`;
    throw cannotHandle(this.kind, this.version, `json: cannot unmarshal ${found} into ${where}`);
  }
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

function zeroOf(type: FieldType): unknown {
  if (typeof type !== 'string') return 'list' in type ? [] : {};
  if (type.startsWith('@')) return {};
  if (type === 'boolean') return false;
  if (type === 'quantity') return '0';
  return type.startsWith('int') && type !== 'intOrString' ? 0 : '';
}

/** `api.core.v1.PodSpec` is `v1.PodSpec` in Go's messages. */
const goName = (name: string): string => name.split('.').slice(-2).join('.');

function goType(type: FieldType): string {
  if (typeof type !== 'string') {
    if ('ref' in type) return goType(type.ref);
    return 'list' in type ? `[]${goType(type.list)}` : `map[string]${goType(type.map)}`;
  }
  if (type.startsWith('@')) return goName(type.slice(1));
  const names: Record<string, string> = {
    boolean: 'bool',
    double: 'float64',
    bytes: '[]uint8',
    quantity: 'resource.Quantity',
    time: 'v1.Time',
    any: 'interface {}',
  };
  return names[type] ?? type;
}
