// A port no one uses and no other test is given: suites run side by side, and a program may listen seconds after its port
// was chosen. Taken from below the range from which the kernel gives ports to outgoing connections: otherwise one of our
// own clients could take it meanwhile.
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lowest = 10_000;
const highest = Math.min(32_000, firstOutgoingPort());
/** One file per port that was given away, with the process that has it; it counts as long as that process lives. */
const given = join(tmpdir(), 'kerf-ports');

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (take(port) && (await canListen(port))) return port;
  }
  throw new Error(`no free port between ${lowest} and ${highest}: stop what is using them`);
}

function take(port: number): boolean {
  mkdirSync(given, { recursive: true });
  const file = join(given, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    // Another port is as good: this one can be taken again by whoever comes next.
    if (!isAlive(file)) rmSync(file, { force: true });
    return false;
  }
}

function isAlive(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // Not written yet.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** On every address, as a controller listens. */
function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

function firstOutgoingPort(): number {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
    return first > lowest + 1_000 ? first : 32_000;
  } catch {
    return 32_000;
  }
}
