// One watch over HTTP: events as they happen, one JSON document per line, bookmarks in quiet times.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/index.ts';
import { apiVersionOf, type ResourceDefinition } from '../api/definition.ts';
import { StatusError, statusObject } from '../api/status.ts';
import type { ObjectEvent, Watcher } from '../api/verbs/watch.ts';
import { partial, row, shown, table, type View } from './encode.ts';
import { Slices, write } from './stream.ts';

/** How often a quiet watcher learns the current version, as on the real server. */
const bookmarkMs = 60_000;
const chunkBytes = 64 * 1024;

export interface WatchStreamOptions {
  response: ServerResponse;
  definition: ResourceDefinition;
  watcher: Watcher;
  view(): View;
  clock: Clock;
  timeoutMs: number;
  bookmarks: boolean;
}

export async function streamWatch(options: WatchStreamOptions): Promise<void> {
  const { response, definition, watcher, clock, bookmarks } = options;
  response.statusCode = 200;
  response.setHeader('Content-Type', 'application/json');
  response.flushHeaders();
  const wake = new Wake();
  const stopListening = watcher.listen(() => wake.now());
  let over = false;
  let bookmarkDue = false;
  const deadline = clock.after(options.timeoutMs, () => {
    over = true;
    wake.now();
  });
  let bookmarkTimer = clock.after(bookmarkMs, dueBookmark);
  function dueBookmark(): void {
    bookmarkDue = true;
    wake.now();
    bookmarkTimer = clock.after(bookmarkMs, dueBookmark);
  }
  response.on('close', () => wake.now());
  const encoder = new EventEncoder(definition, options.view);
  try {
    while (!response.destroyed) {
      const text = await drain(watcher, encoder, response);
      if (text === undefined) return;
      let rest = text;
      if (bookmarks && (bookmarkDue || over)) rest += encoder.bookmark(watcher.caughtUpTo(), false);
      bookmarkDue = false;
      if (rest !== '' && !(await write(response, rest))) return;
      if (over) return;
      if (rest === '') await wake.waited();
    }
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown;
    response.write(`${JSON.stringify({ type: 'ERROR', object: statusObject(thrown) })}\n`);
  } finally {
    stopListening();
    deadline.dispose();
    bookmarkTimer.dispose();
    response.end();
  }
}

/** Writes what there is in full chunks and returns the unwritten remainder; undefined when the client has gone. */
async function drain(watcher: Watcher, encoder: EventEncoder, response: ServerResponse): Promise<string | undefined> {
  const slices = new Slices();
  let text = '';
  for (let event = watcher.next(); event !== undefined; event = watcher.next()) {
    text += event.type === 'INITIAL_EVENTS_END' ? encoder.bookmark(event.revision, true) : encoder.event(event);
    if (text.length >= chunkBytes) {
      if (!(await write(response, text))) return undefined;
      text = '';
    }
    await slices.pause();
  }
  return text;
}

class EventEncoder {
  private readonly definition: ResourceDefinition;
  private readonly view: () => View;
  private first = true;

  constructor(definition: ResourceDefinition, view: () => View) {
    this.definition = definition;
    this.view = view;
  }

  event({ type, object, change }: ObjectEvent): string {
    const view = this.view();
    if (view.form.as === 'object' && view.renamed !== undefined)
      return `{"type":"${type}","object":${JSON.stringify(shown(object, view))}}\n`;
    if (view.form.as === 'object') {
      // Fifty watchers of the same change share one text.
      const known = change?.encodings?.get(type);
      if (known !== undefined) return known;
      const text = `{"type":"${type}","object":${JSON.stringify(object)}}\n`;
      if (change !== undefined) {
        change.encodings ??= new Map();
        change.encodings.set(type, text);
      }
      return text;
    }
    if (view.form.as === 'PartialObjectMetadata') {
      return `${JSON.stringify({ type, object: partial(object, view) })}\n`;
    }
    const rows = [row(this.definition, object, view)];
    const body = table(this.definition, rows, {
      metadata: { resourceVersion: object.metadata.resourceVersion },
      apiVersion: view.form.metaVersion,
      withColumns: this.first,
    });
    this.first = false;
    return `${JSON.stringify({ type, object: body })}\n`;
  }

  bookmark(revision: number, initialEventsEnd: boolean): string {
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    };
    const { form, renamed } = this.view();
    if (form.as === 'Table') {
      const frame = {
        metadata: { resourceVersion: String(revision) },
        apiVersion: form.metaVersion,
        withColumns: false,
      };
      const object = { ...table(this.definition, [], frame), rows: null };
      return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
    }
    const own = renamed?.apiVersion ?? apiVersionOf(this.definition);
    const apiVersion = form.as === 'object' ? own : form.metaVersion;
    const kind = form.as === 'object' ? this.definition.kind : 'PartialObjectMetadata';
    return `${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`;
  }
}

/** Sleep until woken; a wake-up in between is not lost. */
class Wake {
  private resolve: (() => void) | undefined;
  private pending = false;

  now(): void {
    if (this.resolve === undefined) this.pending = true;
    else this.resolve();
    this.resolve = undefined;
  }

  waited(): Promise<void> {
    if (this.pending) {
      this.pending = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}
