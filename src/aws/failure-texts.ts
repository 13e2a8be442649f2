// The catalogue's signs for texts that the provider meets: errors of AWS, console output.
import { classifier } from '../failures/index.ts';

export const failureTexts = classifier({
  encode: (text) => Buffer.from(text),
  decode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
});
