// Runs one benchmark in its own process and reads back what it measured.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bench, Measurement, MeasureOptions } from './bench.ts';

export interface Result extends Measurement {
  name: string;
  bestMs: number;
  peakRssMiB: number;
  itemsPerSecond: number;
  error?: string;
}

export async function runBench(bench: Bench, options: MeasureOptions): Promise<Result> {
  const child = fileURLToPath(new URL('./child.ts', import.meta.url));
  const { code, out, err } = await collect(process.execPath, [
    '--expose-gc',
    child,
    JSON.stringify({ name: bench.name, options }),
  ]);
  if (code !== 0) return failed(bench, err.trim().split('\n').slice(-12).join('\n'));
  const measured = JSON.parse(out.trim().split('\n').at(-1) ?? '{}') as Measurement & { peakRssMiB: number };
  const bestMs = Math.min(...measured.runsMs);
  return { ...measured, name: bench.name, bestMs, itemsPerSecond: (measured.items / bestMs) * 1000 };
}

function failed(bench: Bench, error: string): Result {
  return { name: bench.name, runsMs: [], items: 0, bestMs: Number.NaN, peakRssMiB: 0, itemsPerSecond: 0, error };
}

function collect(command: string, args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}
