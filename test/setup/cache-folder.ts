// Where things that take minutes to make are kept between runs: outside the checkout, one folder per version.
// `makeOnce` promises: a folder under its final name is complete (it is made under another name and renamed); only one
// process makes it while others wait; a maker that was killed does not block anybody (its lock names a dead process).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Says what is being done; a line at a time. */
export type Progress = (line: string) => void;

export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env['KERF_CACHE']) return env['KERF_CACHE'];
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'kerf');
  return join(homedir(), '.cache', 'kerf');
}

export interface MakeOnce {
  /** Final folder; its name carries every version that decides its content. */
  folder: string;
  /** Fills the empty folder it is given. `finalFolder` is where the result will live. */
  make: (workFolder: string, finalFolder: string) => Promise<void>;
  progress: Progress;
  /** How often a waiting process looks again. */
  pollMs?: number;
}

export async function makeOnce({ folder, make, progress, pollMs = 500 }: MakeOnce): Promise<string> {
  if (isFolder(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const release = await lock(`${folder}.lock`, () => isFolder(folder), progress, pollMs);
  if (release === undefined) return folder;
  const work = `${folder}.making-${process.pid}`;
  try {
    removeAbandoned(folder);
    mkdirSync(work);
    await make(work, folder);
    publish(work, folder);
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
    release();
  }
}

function publish(work: string, folder: string): void {
  try {
    renameSync(work, folder);
  } catch (error) {
    // Someone took over a lock that only looked abandoned and was quicker: both results are complete, keep theirs.
    if (!isFolder(folder)) throw error;
  }
}

/** Takes the lock, or waits until `done`; undefined means the wait ended because there is nothing left to do. */
async function lock(
  file: string,
  done: () => boolean,
  progress: Progress,
  pollMs: number,
): Promise<(() => void) | undefined> {
  let reported = 0;
  for (;;) {
    if (done()) return undefined;
    try {
      writeFileSync(file, JSON.stringify(identityOf(process.pid)), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = readOwner(file);
    if (owner !== undefined && !isAlive(owner)) {
      progress(`${file}: process ${owner.pid} is gone, taking over`);
      rmSync(file, { force: true });
      continue;
    }
    if (owner !== undefined && reported !== owner.pid) {
      reported = owner.pid;
      progress(`waiting for process ${owner.pid}, which is making the same thing (${file})`);
    }
    await sleep(pollMs);
  }
}

/** Undefined while the file is being written or has just been removed: look again. */
function readOwner(file: string): ProcessIdentity | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    if (text === '') return abandonedEmpty(file) ? { pid: -1, startTime: '' } : undefined;
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** A maker killed between creating and filling its lock leaves an empty file; ten seconds is ample for a write. */
function abandonedEmpty(file: string): boolean {
  return Date.now() - statSync(file).mtimeMs > 10_000;
}

/** Half-made folders of killed makers; safe because the lock is held. */
function removeAbandoned(folder: string): void {
  const parent = dirname(folder);
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (path.startsWith(`${folder}.making-`)) rmSync(path, { recursive: true, force: true });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
