// Runs a program to its end and gives back what it printed; a failure says the command, where, and its last error lines.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  stdin?: string;
  /** Called for each line on standard error, as it comes. */
  onErrorLine?: (line: string) => void;
}

export interface Output {
  stdout: string;
  /** Its last lines. */
  stderr: string;
}

export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(command: string, exitCode: number | null, stdout: string, stderr: string) {
    super(`\`${command}\` ended with ${exitCode ?? 'a signal'}: ${stderr.trim() || stdout.trim() || 'no output'}`);
    this.exitCode = exitCode;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

export function runProgram(program: string, args: string[], options: RunOptions = {}): Promise<Output> {
  const { cwd, env, stdin, onErrorLine } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    const errors: string[] = [];
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        // The last lines tell why it failed; a build prints thousands before.
        if (errors.push(line) > 200) errors.shift();
        onErrorLine?.(line);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      const stdout = Buffer.concat(output).toString();
      const stderr = errors.join('\n');
      if (code === 0) resolve({ stdout, stderr });
      else reject(new ProgramFailed([program, ...args].join(' '), code, stdout, stderr));
    });
    if (stdin !== undefined && child.stdin !== null) {
      // A program may end without reading its input; its exit code tells the story, not our broken pipe.
      child.stdin.on('error', () => {});
      child.stdin.end(stdin);
    }
  });
}
