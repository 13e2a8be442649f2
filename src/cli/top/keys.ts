// Keys of `kerf top`: raw input of a terminal as names of keys.

const sequences: Readonly<Record<string, string>> = {
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\x1bOA': 'up',
  '\x1bOB': 'down',
  '\x1b[H': 'home',
  '\x1b[F': 'end',
  '\x1b[1~': 'home',
  '\x1b[4~': 'end',
  '\x1b[5~': 'pageUp',
  '\x1b[6~': 'pageDown',
  '\x1b': 'escape',
  '\n': '\r',
  '\b': '\x7f',
};

/** One chunk may hold several keys; sequences that mean nothing here are dropped whole. */
export function keysIn(text: string): string[] {
  const parts = text.match(/\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|./gsu) ?? [];
  return parts.flatMap((part) => {
    const known = sequences[part] ?? part;
    return known.startsWith('\x1b') ? [] : [known];
  });
}

export interface Keys {
  /** Resolves at the next key. */
  pressed(): Promise<void>;
  close(): void;
}

export function readKeys(onKey: (key: string) => void): Keys {
  const { stdin } = process;
  let wake: (() => void) | undefined;
  const read = (chunk: Buffer): void => {
    for (const key of keysIn(chunk.toString('utf8'))) onKey(key);
    wake?.();
  };
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.resume();
  stdin.on('data', read);
  return {
    pressed: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    close() {
      stdin.off('data', read);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
