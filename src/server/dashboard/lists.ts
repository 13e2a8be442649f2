// The long lists, made once per revision, compressed once, and shared by all viewers.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from './api-error.ts';
import type { LiveView } from './live-view.ts';

export interface SharedText {
  text: string;
  gzip(): Promise<Buffer>;
}

const compress = promisify(gzip);
/** Above so many nodes, cells are asked for by the numbers of the nodes that are in view. */
const mostNodesWithCells = 2_000;
const mostKeys = 1_000;

const texts = new WeakMap<LiveView, Map<string, { revision: number; shared: SharedText }>>();

function shared(live: LiveView, name: string, make: () => object): SharedText {
  const known = texts.get(live) ?? new Map<string, { revision: number; shared: SharedText }>();
  texts.set(live, known);
  const { revision } = live.model;
  const last = known.get(name);
  if (last !== undefined && last.revision === revision) return last.shared;
  const text = JSON.stringify(make());
  let zipped: Promise<Buffer> | undefined;
  const made = { text, gzip: () => (zipped ??= compress(text)) };
  known.set(name, { revision, shared: made });
  return made;
}

export const nodesText = (live: LiveView): SharedText => shared(live, 'nodes', () => live.model.list(live.now()));

export function cellsText(live: LiveView, query: URLSearchParams): SharedText {
  const asked = query.get('nodes');
  if (asked === null) {
    const { nodes } = live.totals();
    if (nodes > mostNodesWithCells) {
      const fix = 'ask for the cells of some: cells?nodes=1,2,3 with the keys of the list';
      throw new ApiError(413, 'TooLarge', `there are ${nodes} nodes, too many for all their cells`, fix);
    }
    return shared(live, 'cells', () => live.model.cells());
  }
  const keys = asked.split(',').map(Number);
  if (keys.length > mostKeys || keys.some(Number.isNaN)) {
    throw new ApiError(400, 'BadRequest', `nodes must be at most ${mostKeys} numbers`, 'write nodes=1,2,3');
  }
  const text = JSON.stringify(live.model.cells(new Set(keys)));
  return { text, gzip: () => compress(text) };
}
