// Loaded into a process under test with --import: answers on KERF_OBSERVE_PORT with what the process holds. No line of this
// ships.
import { createServer } from 'node:http';
import { held } from './held.mjs';

/** The longest time between two turns of the event loop, and how much of it this process itself was at work. */
let worst = { worstOwnMs: 0, worstMs: 0 };
let last = { atMs: performance.now(), cpu: process.cpuUsage() };
setInterval(() => {
  const atMs = performance.now();
  const { user, system } = process.cpuUsage(last.cpu);
  const gapMs = atMs - last.atMs;
  worst = {
    worstOwnMs: Math.max(worst.worstOwnMs, Math.min(gapMs, (user + system) / 1000)),
    worstMs: Math.max(worst.worstMs, gapMs),
  };
  last = { atMs, cpu: process.cpuUsage() };
}, 20).unref();

createServer((request, response) => {
  if (request.url === '/delay') {
    response.end(JSON.stringify(worst));
    worst = { worstOwnMs: 0, worstMs: 0 };
    return;
  }
  held().then(
    (found) => response.end(JSON.stringify(found)),
    (error) => response.writeHead(500).end(String(error)),
  );
})
  .listen(Number(process.env.KERF_OBSERVE_PORT), '127.0.0.1')
  .unref();
