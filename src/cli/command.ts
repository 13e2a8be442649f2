// What a command of `kerf` is. Each lives in its own folder or file under src/cli and is imported only when it runs, so
// that `kerf --help` stays quick however much the others need.
import type { Command } from 'commander';

/** Streams and surroundings of one run, so that commands can be tested without a process. */
export interface Terminal {
  stdin: NodeJS.ReadableStream;
  out(text: string): void;
  err(text: string): void;
  /** Moves the cursor and the like: what `out` and `err` make visible instead of doing it. Absent: there is none to move. */
  control?(text: string, stream?: 'out' | 'err'): void;
  /** Standard output is a terminal: colour and progress are welcome. */
  isTerminal: boolean;
  /** Standard error is a terminal: a progress line is welcome there even when the output is piped. */
  errIsTerminal: boolean;
  /** Columns of the terminal, as they are now; 80 when piped. */
  readonly columns: number;
  env: Record<string, string | undefined>;
}

/** Exit codes shared by all commands. */
export const exitCode = {
  ok: 0,
  /** It worked and found something wrong: errors in a manifest, pods that fit nowhere. */
  findings: 1,
  /** It could not do what was asked: unreadable input, wrong flags, no cluster. */
  failure: 2,
} as const;

/** Adds a command's flags and help to `command`; the action resolves to the exit code. */
export interface CommandDefinition {
  name: string;
  summary: string;
  load(): Promise<{ configure(command: Command, run: CommandRunner): void }>;
}

/** Wraps an action so that its exit code and its errors reach the process in one way. */
export type CommandRunner = (
  action: (terminal: Terminal, ...args: never[]) => Promise<number>,
) => (...args: unknown[]) => Promise<void>;
