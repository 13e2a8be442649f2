// A loopback port no one uses. Taken from below the range from which the kernel gives ports to outgoing connections:
// otherwise one of our own clients could take it between the choice and the listening.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const lowest = 15_000;
const highest = 32_000;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port on 127.0.0.1 between ${lowest} and ${highest}: stop what is using them`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
