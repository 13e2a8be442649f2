// `o` on the live screen opens the dashboard. Single keys need a raw terminal, in which Ctrl-C and Ctrl-Z are keys as well:
// they are passed on to the whole job, as the terminal would have done.
import { spawn, spawnSync } from 'node:child_process';

const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

export interface KeyActions {
  open(): void;
  /** To every process of this job. */
  signal(name: 'SIGINT' | 'SIGTSTP'): void;
}

/** Returns what gives the terminal back. */
export function listenForKeys(stdin: NodeJS.ReadStream, { open, signal }: KeyActions): () => void {
  const read = (chunk: Buffer): void => {
    for (const key of chunk.toString('utf8')) {
      if (key === 'o') open();
      else if (key === '\x03') signal('SIGINT');
      else if (key === '\x1a') {
        stdin.setRawMode(false);
        signal('SIGTSTP');
      }
    }
  };
  const goOn = (): void => void (isInForeground() && stdin.setRawMode(true));
  stdin.setRawMode(true);
  stdin.on('data', read);
  stdin.resume();
  process.on('SIGCONT', goOn);
  return () => {
    process.off('SIGCONT', goOn);
    stdin.off('data', read);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

/** Whoever is in the background and changes the terminal is stopped. Where that cannot be asked, the terminal is left alone. */
export function isInForeground(): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' });
  return stdout?.includes('+') ?? false;
}

/** Where there is no browser nothing happens: the address stands above the picture. */
export function openInBrowser(url: string, platform: string = process.platform): void {
  const [program = '', ...args] = openers[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
