// The AWS emulator's program: moto server, installed once with pip into a virtual environment in the cache.
// Relies on python3 with venv, and on a package index. `moto[server]` would pull in twice as much without doing more of
// what we use.
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from '../cache-folder.ts';
import { MissingComponent } from '../missing-component.ts';
import { runProgram } from '../run-program.ts';

const motoVersion = '5.2.5';
const requirements = [`moto==${motoVersion}`, 'flask==3.1.3', 'flask-cors==6.0.5'];

export interface MotoProgram {
  program: string;
  /** Go before any argument of moto_server. */
  args: string[];
}

export async function provideMoto(progress: Progress, env: NodeJS.ProcessEnv = process.env): Promise<MotoProgram> {
  const folder = join(cacheFolder(env), `moto-${motoVersion}`);
  await makeOnce({ folder, make: (work) => install(work, env, progress), progress });
  // Not bin/moto_server: its first line names the folder in which it was made, before the renaming.
  return { program: join(folder, 'bin', 'python'), args: ['-c', 'from moto.server import main; main()'] };
}

async function install(work: string, env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  const started = Date.now();
  progress(`installing moto ${motoVersion} once`);
  try {
    await runProgram('python3', ['-m', 'venv', work], { env });
  } catch (cause) {
    throw missing('`python3 -m venv` does not run', 'install Python 3.10 or newer with its venv module', cause);
  }
  const python = join(work, 'bin', 'python');
  try {
    await runProgram(python, ['-m', 'pip', 'install', '--quiet', ...requirements], { env });
  } catch (cause) {
    throw missing(`pip could not install ${requirements.join(' ')}`, 'check the network and pip’s settings', cause);
  }
  // Compiled once here instead of at every start from a folder that may be read-only.
  await runProgram(python, ['-m', 'compileall', '-q', '-j', '1', join(work, 'lib')]).catch(() => undefined);
  progress(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

function missing(problem: string, remedy: string, cause: unknown): MissingComponent {
  const detail = cause instanceof Error ? ` (${cause.message.split('\n').at(-1)})` : '';
  return new MissingComponent({ component: 'the AWS emulator', problem: `${problem}${detail}`, remedy, cause });
}
