// One viewer: server-sent events with what changed, at most twice a second, until the viewer leaves. A viewer that does not
// keep up has to look again instead of being given a queue. What several viewers are sent is written once and shared.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/index.ts';
import type { Decision } from '../../ports/index.ts';
import { type AnswerParts, limits } from './answers.ts';
import { ApiError } from './api-error.ts';
import type { LiveView } from './live-view.ts';
import type { WhatIfs } from './what-if.ts';

const mostBufferedBytes = 1024 * 1024;
/** Whoever shows the time wants to hear it this often. */
const tickMs = 1_000;
/** Deltas sent one after the other before others get their turn. */
const mostDeltas = 8;

export interface StreamOptions {
  parts: AnswerParts;
  response: ServerResponse;
  query: URLSearchParams;
  real: Clock;
  whatIfs: WhatIfs;
  /** Something else is shown from now on. */
  isOver(): boolean;
}

export function serveStream({ parts, response, query, real, whatIfs, isOver }: StreamOptions): void {
  const { live, decisions, info, context } = parts;
  if (live.viewers >= limits.viewers) {
    const fix = 'close another page that shows it';
    throw new ApiError(503, 'TooManyViewers', `${limits.viewers} viewers are connected already`, fix);
  }
  const topics = new Set((query.get('topics') ?? 'nodes').split(','));
  let revision = Number(query.get('since') ?? Number.NaN);
  let tickedMs = Number.NEGATIVE_INFINITY;
  let isBehind = false;
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.flushHeaders();
  const send = (event: string, data: object): void => void response.write(eventText(event, data));
  const reset = (): void => {
    send('reset', { revision: live.model.revision });
    revision = Number.NaN;
  };
  const push = (): void => {
    if (response.destroyed) return;
    if (isOver()) {
      reset();
      response.end();
      return;
    }
    if (response.writableLength > mostBufferedBytes) {
      isBehind = true;
      return;
    }
    if (isBehind) {
      isBehind = false;
      reset();
    }
    if (real.now() - tickedMs >= tickMs) {
      tickedMs = real.now();
      send('tick', {
        build: info.build,
        time: live.now(),
        timeMs: context.clock.now(),
        totals: live.totals(),
        revision: live.model.revision,
        ...(info.player === undefined ? {} : info.player.state()),
      });
    }
    if (Number.isNaN(revision)) return;
    for (let sent = 0; sent < mostDeltas && revision < live.model.revision; sent++) {
      const delta = deltaFrom(live, revision, topics.has('cells'));
      if (delta === undefined) {
        reset();
        return;
      }
      response.write(delta.bytes);
      revision = delta.revision;
    }
  };
  const tellDecision = (decision: Decision): void => {
    if (!response.destroyed && response.writableLength <= mostBufferedBytes) send('decision', decision);
  };
  const stops = [
    live.watch(push),
    decisions?.subscribe(tellDecision),
    whatIfs.subscribe((result) => send('what-if', result)),
  ];
  response.on('close', () => {
    for (const stop of stops) stop?.();
  });
  push();
}

const eventText = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

interface DeltaBytes {
  bytes: Buffer;
  revision: number;
}

/** Of the present revision: viewers that keep up are all at the same place. */
const written = new WeakMap<LiveView, { revision: number; deltas: Map<string, DeltaBytes> }>();

function deltaFrom(live: LiveView, since: number, withCells: boolean): DeltaBytes | undefined {
  const { model } = live;
  let now = written.get(live);
  if (now?.revision !== model.revision) written.set(live, (now = { revision: model.revision, deltas: new Map() }));
  const key = `${since} ${withCells}`;
  const known = now.deltas.get(key);
  if (known !== undefined) return known;
  const delta = model.deltaSince(since, { withCells });
  if (delta === undefined) return undefined;
  const made = { bytes: Buffer.from(eventText('delta', delta)), revision: delta.revision };
  now.deltas.set(key, made);
  return made;
}
