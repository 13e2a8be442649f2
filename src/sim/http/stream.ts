// Long answers, written in slices: a list of a hundred thousand pods or a watch of days never holds up anyone else.
// Back-pressure: nothing is read from the store that the client has not made room for.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceDefinition } from '../api/definition.ts';
import type { Listing } from '../api/verbs/list.ts';
import type { JsonObject } from '../json.ts';
import { encodeItem, listFrame, type View } from './encode.ts';

/** Bytes gathered before a write. */
const chunkBytes = 64 * 1024;
/** Longest stretch of work before others get their turn. */
const sliceMs = 8;

export async function streamList(
  response: ServerResponse,
  definition: ResourceDefinition,
  listing: Listing,
  limited: boolean,
  view: View,
): Promise<void> {
  const slices = new Slices();
  const chunks: string[] = [];
  let text = '';
  let first = true;
  response.statusCode = 200;
  response.setHeader('Content-Type', 'application/json');
  // Only a limited list has to be read to its end before its head is known.
  const nullIfEmpty = view.form.as === 'Table' && definition.table?.nullIfEmpty === true;
  if (!limited && !nullIfEmpty) text = listFrame(definition, view, listMeta(definition, listing, view, {})).open;
  for (const object of listing.objects) {
    text += first ? encodeItem(definition, object, view) : `,${encodeItem(definition, object, view)}`;
    first = false;
    if (text.length < chunkBytes) {
      await slices.pause();
      continue;
    }
    if (limited || nullIfEmpty) chunks.push(text);
    else if (!(await write(response, text))) return;
    text = '';
    await slices.pause();
  }
  const frame = listFrame(definition, view, listMeta(definition, listing, view, listing.rest()));
  if (limited || nullIfEmpty) {
    if (first && nullIfEmpty) {
      response.end(`${frame.open.slice(0, -1)}null}\n`);
      return;
    }
    if (!(await write(response, frame.open))) return;
    for (const chunk of chunks) if (!(await write(response, chunk))) return;
  }
  response.end(text + frame.close);
}

/** Lists of custom resources say that there is no next page; the others leave it out. */
const listMeta = (definition: ResourceDefinition, listing: Listing, view: View, rest: object): JsonObject => ({
  ...(definition.custom !== undefined && view.form.as === 'object' && { continue: '' }),
  resourceVersion: String(listing.revision),
  ...rest,
});

/** Writes and waits for room; false when the client has gone. */
export async function write(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')) return true;
  await new Promise<void>((resolve) => {
    const settled = (): void => {
      response.off('drain', settled);
      response.off('close', settled);
      resolve();
    };
    response.on('drain', settled);
    response.on('close', settled);
  });
  return !response.destroyed;
}

/** Hands the loop to others when a slice of time is used up. */
export class Slices {
  private started = performance.now();
  private count = 0;

  /** Undefined (and no turn lost) while there is time left. */
  pause(): Promise<void> | undefined {
    this.count += 1;
    // Asking for the time costs more than encoding a small object.
    if (this.count % 8 !== 0 || performance.now() - this.started < sliceMs) return undefined;
    return nextTurn().then(() => {
      this.started = performance.now();
    });
  }
}
