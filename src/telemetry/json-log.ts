// The Log port as JSON lines in the shape users' pipelines parse: level in upper case, ISO 8601 time with milliseconds,
// logger, message, commit; at level debug also who logs. Lines that repeat are sampled: per second and message the first
// hundred, then every hundredth.
import { messageOf } from '../base/index.ts';
import type { Log, LogFields } from '../ports/index.ts';

export type LogLevel = 'debug' | 'info' | 'error';

export interface JsonLogOptions {
  level: LogLevel;
  commit: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Fields of the moment a line is written in: which reconcile it belongs to. */
  surroundings?(): LogFields;
  write(line: string): void;
}

const rank: Record<LogLevel, number> = { debug: 0, info: 1, error: 2 };
const sampleFirst = 100;
const sampleEvery = 100;

export function jsonLog(options: JsonLogOptions, fields: LogFields = {}, sampler = new Sampler()): Log {
  const line = (level: LogLevel, message: string, extra: LogFields): void => {
    if (rank[level] < rank[options.level]) return;
    const now = options.now();
    if (!sampler.admits(level, message, now)) return;
    const text = `${JSON.stringify({
      level: level.toUpperCase(),
      time: new Date(now).toISOString(),
      logger: 'controller',
      ...(options.level === 'debug' ? { caller: callSite() } : {}),
      message,
      commit: options.commit,
      ...options.surroundings?.(),
      ...fields,
      ...extra,
    })}\n`;
    options.write(text);
  };
  return {
    debug: (message, extra = {}) => line('debug', message, extra),
    info: (message, extra = {}) => line('info', message, extra),
    error: (message, error, extra = {}) =>
      line('error', message, error === undefined ? extra : { ...extra, error: messageOf(error) }),
    with: (extra) => jsonLog(options, { ...fields, ...extra }, sampler),
  };
}

/** Folder, file and line of whoever logs: four frames up, behind this function, `line` and the log's own method. */
function callSite(): string | undefined {
  return new Error().stack?.split('\n')[4]?.match(/([^/]+\/[^/]+:\d+):\d+\)?$/)?.[1];
}

/** A log that keeps nothing, for simulations and tests. */
export const silentLog: Log = { debug: () => {}, info: () => {}, error: () => {}, with: () => silentLog };

class Sampler {
  private second = 0;
  private readonly seen = new Map<string, number>();

  admits(level: LogLevel, message: string, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.seen.clear();
    }
    const key = `${level}:${message}`;
    const count = (this.seen.get(key) ?? 0) + 1;
    this.seen.set(key, count);
    return count <= sampleFirst || (count - sampleFirst) % sampleEvery === 0;
  }
}
