// OpenAPI v2 in the protobuf form of gnostic, the only one kubectl asks for when it applies a List. It looks there for one
// thing: which kinds take which query parameters when patched. So that is what the document says.
import { apiVersionOf, type ResourceDefinition } from '../api/definition.ts';

/** The type under which clients know this form. */
export const openApiV2Type = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}

/** A length-delimited field: a text or a message. */
function field(number: number, content: string | Buffer | Buffer[]): Buffer {
  const body =
    typeof content === 'string' ? Buffer.from(content) : Array.isArray(content) ? Buffer.concat(content) : content;
  return Buffer.concat([varint((number << 3) | 2), varint(body.length), body]);
}

// Field numbers of gnostic's openapi.v2 messages.
const queryParameter = (name: string): Buffer =>
  field(8, field(1, field(2, field(3, [field(2, 'query'), field(4, name)]))));

function patchOperation(definition: ResourceDefinition, parameters: readonly string[]): Buffer {
  const { group, version, kind } = definition;
  const gvk = JSON.stringify({ group, version, kind });
  const extension = field(13, [field(1, 'x-kubernetes-group-version-kind'), field(2, field(2, gvk))]);
  return field(8, [...parameters.map(queryParameter), extension]);
}

export function openApiV2Protobuf(definitions: readonly ResourceDefinition[], parameters: readonly string[]): Buffer {
  const paths = definitions.map((definition) => {
    const name = `/apis/${apiVersionOf(definition)}/${definition.plural}/{name}`;
    return field(2, [field(1, name), field(2, patchOperation(definition, parameters))]);
  });
  return Buffer.concat([field(1, '2.0'), field(8, paths)]);
}
