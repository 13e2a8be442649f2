// One measurement in a process of its own: name and options come as one JSON argument, the result goes out as one line.
import type { MeasureOptions } from './bench.ts';
import { benches } from './registry.ts';

const { name, options } = JSON.parse(process.argv[2] ?? '{}') as { name: string; options: MeasureOptions };
const bench = benches.find((candidate) => candidate.name === name);
if (bench === undefined) throw new Error(`no benchmark is called ${name}`);
const measurement = await bench.measure(options);
const wholeRun = { peakRssMiB: process.resourceUsage().maxRSS / 1024 };
process.stdout.write(`${JSON.stringify({ ...wholeRun, ...measurement })}\n`);
