// Writes files as a gzipped tarball, as --collect does.
import { gzipSync } from 'node:zlib';
import { KerfError, messageOf } from '../../../base/index.ts';
import { writeWhole } from '../../output/index.ts';
import type { LiveFile } from './cluster.ts';

const block = 512;

export async function writeBundle(path: string, files: readonly LiveFile[]): Promise<void> {
  const parts = files.flatMap(({ path: name, text }) => {
    const body = Buffer.from(text);
    return [header(name, body.length), body, Buffer.alloc((block - (body.length % block)) % block)];
  });
  try {
    // What a cluster says about itself is for its owner.
    await writeWhole(path, gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)])), 0o600);
  } catch (thrown) {
    throw new KerfError('OutputUnwritable', `cannot write ${path}: ${messageOf(thrown)}; give another --collect`, {
      cause: thrown,
    });
  }
}

function header(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  bytes.write(name.slice(0, 100), 0);
  bytes.write('0000644\0', 100);
  bytes.write('0000000\0', 108);
  bytes.write('0000000\0', 116);
  bytes.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  bytes.write('00000000000\0', 136);
  bytes.write('        ', 148);
  bytes.write('0', 156);
  bytes.write('ustar\x0000', 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}
