// Runs the real command, bin/kerf, as a user would: a process of its own, with pipes.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');

export interface KerfRun {
  code: number | null;
  out: string;
  err: string;
}

export interface KerfOptions {
  stdin?: string | Buffer;
  env?: Record<string, string>;
  cwd?: string;
  /** User id to run as, for permissions that the superuser does not feel. */
  uid?: number;
}

export function runKerf(args: readonly string[], options: KerfOptions = {}): Promise<KerfRun> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [kerf, ...args], {
      // The seed of a run of the tests is not a setting of the command.
      env: { ...process.env, KERF_BASE_SEED: undefined, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    });
    const run: KerfRun = { code: null, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (run.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (run.err += text));
    child.on('error', failed);
    child.on('close', (code) => done({ ...run, code }));
    // A command that stops reading early is its own business.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
  });
}
