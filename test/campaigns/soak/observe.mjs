// Loaded into a process under test with --import: answers on KERF_OBSERVE_PORT with what the process holds. Every live Map
// and Set is found through the inspector, whoever made it and wherever it hides; they are distinguished by the shape of their
// keys. No line of this ships.
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();

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

/** Runs inside, over all live objects of a kind: entries by the shape of their first key, largest first. */
function sizesByShape() {
  const shapeOf = (key) => {
    if (typeof key !== 'string') return key === null ? 'null' : typeof key;
    return key
      .replace(/[0-9a-f]{8,}|[0-9]+/gi, '#')
      .replace(/#[#.-]*#/g, '#')
      .slice(0, 60);
  };
  const sizes = {};
  for (const each of this) {
    try {
      if (each.size === 0) continue;
      const shape = shapeOf(each.keys().next().value);
      sizes[shape] = (sizes[shape] ?? 0) + each.size;
    } catch {
      // Prototypes of classes that extend a Map are among them, and hold nothing.
    }
  }
  return JSON.stringify(sizes);
}

async function sizesOf(prototype) {
  const { result } = await session.post('Runtime.evaluate', { expression: prototype });
  const { objects } = await session.post('Runtime.queryObjects', { prototypeObjectId: result.objectId });
  const answer = await session.post('Runtime.callFunctionOn', {
    objectId: objects.objectId,
    functionDeclaration: sizesByShape.toString(),
    returnByValue: true,
  });
  await session.post('Runtime.releaseObject', { objectId: objects.objectId });
  return JSON.parse(answer.result.value);
}

async function observe() {
  // Looking for objects collects garbage first, so that the memory read afterwards is what is held.
  const [maps, sets] = [await sizesOf('Map.prototype'), await sizesOf('Set.prototype')];
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external, descriptors: readdirSync('/proc/self/fd').length, maps, sets };
}

createServer((request, response) => {
  if (request.url === '/delay') {
    response.end(JSON.stringify(worst));
    worst = { worstOwnMs: 0, worstMs: 0 };
    return;
  }
  observe().then(
    (found) => response.end(JSON.stringify(found)),
    (error) => response.writeHead(500).end(String(error)),
  );
})
  .listen(Number(process.env.KERF_OBSERVE_PORT), '127.0.0.1')
  .unref();
