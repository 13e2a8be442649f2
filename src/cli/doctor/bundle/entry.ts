// A file of a bundle, wherever it lies: in a folder, a tarball or a zip. Contents are read as a stream, once, before the
// next entry is asked for.
export interface Entry {
  /** With forward slashes, without a leading one. */
  path: string;
  chunks: AsyncIterable<Uint8Array>;
  /** Whether its end is missing, once its chunks were read: an archive that was cut off. */
  isCutOff?: () => boolean;
}

/** Something that was not read, and why. */
export interface Skipped {
  path: string;
  reason: string;
}

export type EntryItem = { kind: 'entry'; entry: Entry } | { kind: 'skipped'; skipped: Skipped };

/** Bounds on what an archive may unfold to: a small file must not fill the machine. */
export interface Limits {
  files: number;
  bytes: number;
  /** Unpacked bytes per packed byte, once an archive has unfolded to more than `ratioFromBytes`. */
  ratio: number;
  ratioFromBytes: number;
  /** Archives within archives. */
  depth: number;
}

export const defaultLimits: Limits = {
  files: 100_000,
  bytes: 8 * 1024 ** 3,
  ratio: 400,
  ratioFromBytes: 64 * 1024 ** 2,
  depth: 3,
};

/** Thrown inside a stream when a bound is passed; the rest of the archive is left out and reported. */
export class LimitReached extends Error {}

/** What has been read so far over all archives of one bundle. */
export class Budget {
  readonly limits: Limits;
  private files = 0;
  private bytes = 0;

  constructor(limits: Limits = defaultLimits) {
    this.limits = limits;
  }

  addFile(): void {
    this.files += 1;
    if (this.files > this.limits.files) throw new LimitReached(`more than ${this.limits.files} files`);
  }

  addBytes(count: number): void {
    this.bytes += count;
    if (this.bytes > this.limits.bytes)
      throw new LimitReached(`more than ${Math.round(this.limits.bytes / 1024 ** 3)} GiB unpacked`);
  }

  checkRatio(packed: number, unpacked: number): void {
    const { ratio, ratioFromBytes } = this.limits;
    if (unpacked > ratioFromBytes && unpacked > packed * ratio)
      throw new LimitReached(`it unfolds to more than ${ratio} times its size`);
  }
}

/** The path inside the bundle; undefined when it would leave it. */
export function safePath(name: string): string | undefined {
  const path = name.replaceAll('\\', '/');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\0')) return undefined;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}
