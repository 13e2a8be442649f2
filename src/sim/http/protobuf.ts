// Reading bodies in the Kubernetes protobuf encoding, which kubectl's typed commands send. Answers are always JSON; every
// client that sends protobuf accepts that. Field numbers come with the schemas; the result is what JSON would have said.

import { definitionOf, type FieldType, type Wire } from '../api/schema.ts';
import { badRequest } from '../api/status.ts';
import { ensureObject, type JsonObject } from '../json.ts';

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const malformed = 'the protobuf body is malformed';

/** Decodes an envelope and the object in it. */
export function decodeProtobuf(bytes: Buffer, schema: string): JsonObject {
  if (!bytes.subarray(0, 4).equals(magic))
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  try {
    let object: JsonObject = {};
    const type: JsonObject = {};
    for (const { number, value } of fields(bytes.subarray(4))) {
      if (number === 1)
        for (const inner of fields(value as Buffer))
          type[inner.number === 1 ? 'apiVersion' : 'kind'] = text(inner.value);
      if (number === 2) object = message(value as Buffer, schema);
    }
    return { ...type, ...object };
  } catch (thrown) {
    if (thrown instanceof RangeError) throw badRequest(malformed);
    throw thrown;
  }
}

interface Field {
  number: number;
  value: bigint | Buffer;
}

function* fields(bytes: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError(malformed);
      at += 1;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw new RangeError(malformed);
  };
  const take = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length) throw new RangeError(malformed);
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new RangeError(malformed);
    }
  }
}

const text = (value: Field['value']): string => (value as Buffer).toString('utf8');
const integer = (value: Field['value']): number => Number(BigInt.asIntN(64, value as bigint));

function message(bytes: Buffer, schema: string): JsonObject {
  const object: JsonObject = {};
  const { wire, fields: types } = definitionOf(schema);
  readInto(object, bytes, wire, types);
  return object;
}

function readInto(object: JsonObject, bytes: Buffer, wire: Wire, types: Record<string, FieldType>): void {
  for (const { number, value } of fields(bytes)) {
    const name = wire[number];
    if (name === undefined) continue;
    if (typeof name === 'object') readInto(object, value as Buffer, name, types);
    else add(object, name, types[name], value);
  }
}

function add(object: JsonObject, name: string, type: FieldType | undefined, value: Field['value']): void {
  if (type === undefined) return;
  if (typeof type === 'object' && 'list' in type) {
    const items = (object[name] as unknown[] | undefined) ?? [];
    items.push(read(type.list, value));
    object[name] = items;
  } else if (typeof type === 'object' && 'map' in type) {
    const map = ensureObject(object, name);
    let key = '';
    let item: unknown;
    for (const entry of fields(value as Buffer)) {
      if (entry.number === 1) key = text(entry.value);
      else item = read(type.map, entry.value);
    }
    map[key] = item ?? '';
  } else object[name] = read(type, value);
}

function read(type: FieldType, value: Field['value']): unknown {
  if (typeof type === 'object') {
    if ('ref' in type) return read(type.ref, value);
    const holder: JsonObject = {};
    add(holder, 'value', type, value);
    return holder['value'];
  }
  if (type.startsWith('@')) return message(value as Buffer, type.slice(1));
  switch (type) {
    case 'string':
      return text(value);
    case 'bytes':
      return (value as Buffer).toString('base64');
    case 'boolean':
      return value !== 0n;
    case 'int32':
    case 'int64':
      return integer(value);
    case 'double':
      return (value as Buffer).readDoubleLE(0);
    case 'quantity':
      return text(numbered(value as Buffer).get(1) ?? Buffer.from('0'));
    case 'intOrString': {
      const parts = numbered(value as Buffer);
      return parts.get(1) === 1n ? text(parts.get(3) ?? Buffer.alloc(0)) : integer(parts.get(2) ?? 0n);
    }
    case 'time':
    case 'microTime':
      return time(numbered(value as Buffer));
    default: {
      const raw = numbered(value as Buffer).get(1);
      return raw === undefined ? undefined : (JSON.parse(text(raw)) as unknown);
    }
  }
}

const numbered = (bytes: Buffer): Map<number, Field['value']> =>
  new Map([...fields(bytes)].map(({ number, value }) => [number, value]));

/** The zero time is absent on the JSON wire. */
function time(parts: Map<number, Field['value']>): string | undefined {
  if (parts.size === 0) return undefined;
  const seconds = integer(parts.get(1) ?? 0n);
  const micros = Math.floor(integer(parts.get(2) ?? 0n) / 1000);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0')}Z`;
}
