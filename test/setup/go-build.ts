// Builds programs from Go modules: a wrapper module written on the spot, its requirements resolved by Go, nothing of it
// kept. Relies on the `go` command and a module proxy; no C compiler is needed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Progress } from './cache-folder.ts';
import { MissingComponent } from './missing-component.ts';
import { runProgram } from './run-program.ts';

export interface GoBuild {
  /** What it is, in progress lines. */
  what: string;
  /** Content of the wrapper's files by name; `go.mod` among them. */
  files: Record<string, string>;
  /** Arguments of `go build`; the last ones are packages. */
  args: string[];
}

export class GoTool {
  private readonly env: NodeJS.ProcessEnv;
  private readonly progress: Progress;

  constructor(env: NodeJS.ProcessEnv, progress: Progress) {
    // A workspace file above the cache must not join in.
    // A release may ask for a newer patch of Go than is installed; the module proxy has it.
    this.env = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'auto' };
    this.progress = progress;
  }

  /** Fails with what to install when there is no Go. */
  async require(component: string, otherwise: string): Promise<void> {
    try {
      await this.run(['version']);
    } catch (cause) {
      throw new MissingComponent({
        component,
        problem: 'the `go` command, which builds it, does not run',
        remedy: `install Go 1.26 or newer${otherwise}`,
        cause,
      });
    }
  }

  async run(args: string[], cwd?: string, onErrorLine?: Progress): Promise<string> {
    const { stdout } = await runProgram('go', args, {
      env: this.env,
      ...(cwd === undefined ? {} : { cwd }),
      ...(onErrorLine === undefined ? {} : { onErrorLine }),
    });
    return stdout;
  }

  async build(folder: string, { what, files, args }: GoBuild): Promise<void> {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    this.progress(`${what}: fetching modules`);
    await this.run(['mod', 'tidy'], folder);
    this.progress(`${what}: compiling`);
    let packages = 0;
    let reportedAtMs = Date.now();
    await this.run(['build', '-v', '-trimpath', ...args], folder, () => {
      packages += 1;
      if (Date.now() - reportedAtMs < 15_000) return;
      reportedAtMs = Date.now();
      this.progress(`${what}: ${packages} packages compiled`);
    });
    rmSync(folder, { recursive: true });
  }

  /** Modules are unpacked read-only. */
  async writable(folder: string): Promise<void> {
    await runProgram('chmod', ['-R', 'u+w', folder]);
  }

  /** The requirements of a published module, as its go.mod lists them. */
  async moduleOf(path: string, version: string, folder: string): Promise<GoModule> {
    mkdirSync(dirname(folder), { recursive: true });
    const downloaded = await this.run(['mod', 'download', '-json', `${path}@${version}`], dirname(folder));
    const { GoMod } = JSON.parse(downloaded) as { GoMod: string };
    return JSON.parse(await this.run(['mod', 'edit', '-json', GoMod])) as GoModule;
  }
}

export interface GoModule {
  Go: string;
  Require: { Path: string; Version: string }[];
}

/** A file that imports commands, so that Go keeps their modules. */
export function toolsFile(packages: string[]): string {
  return `//go:build tools\n\npackage tools\n\nimport (\n${packages.map((path) => `\t_ "${path}"`).join('\n')}\n)\n`;
}
