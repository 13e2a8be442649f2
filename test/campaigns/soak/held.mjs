// What this process holds: memory, descriptors, and the size of every live Map and Set, found through the inspector, whoever made
// it and wherever it hides; they are distinguished by the shape of their keys.
import { readdirSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();

/** Runs inside, over all live objects of a kind: entries by the shape of their first key, largest first. */
function sizesByShape() {
  const shapeOf = (key) => {
    if (typeof key !== 'string') return key === null ? 'null' : typeof key;
    return key
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '#')
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

export async function held() {
  // Looking for objects collects garbage first, so that the memory read afterwards is what is held.
  const [maps, sets] = [await sizesOf('Map.prototype'), await sizesOf('Set.prototype')];
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external, descriptors: readdirSync('/proc/self/fd').length, maps, sets };
}
