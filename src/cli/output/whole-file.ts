// A file is written whole or not at all: into a new file beside it, flushed to the disk, then renamed over the old one. A
// full disk or a kill in the middle leaves what was there. Links are followed, the permissions of the old file stay.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export function writeWhole(path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  return fillWhole(path, (file) => file.writeFile(content), mode);
}

/** The same for what is written piece by piece; `fill` returns when all of it is. */
export async function fillWhole(path: string, fill: (file: FileHandle) => Promise<void>, mode = 0o666): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const old = await stat(target).catch(() => undefined);
  // A pipe or a device is not replaced.
  if (old !== undefined && !old.isFile()) {
    await using device = await open(target, 'w');
    return await fill(device);
  }
  const folder = dirname(target);
  const beside = join(folder, `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  // Fails where the name exists, a link included: no one can prepare it.
  const file = await open(beside, 'wx', old === undefined ? mode : old.mode & 0o7777);
  try {
    try {
      await fill(file);
      if (old !== undefined) await file.chmod(old.mode & 0o7777);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
  // The new name itself; where folders cannot be flushed, the rename is all there is.
  const entry = await open(folder, 'r').catch(() => undefined);
  await entry?.sync().catch(() => undefined);
  await entry?.close();
}
