// One picture of `kerf top`: what the cluster comes to, the list with its cursor in view, details below, keys at the end;
// exactly as many lines as there is room for.
import { wrapLines, wrapText } from '../output/index.ts';
import { type Frame, type Listing, type Seen, summary } from './picture.ts';
import { footer, type TopState, topViews } from './state.ts';

/** Of the lines below the head, so many may be details. */
const detailsShare = 0.5;

export interface FrameParts {
  seen: Seen;
  state: TopState;
  listing: Listing;
  /** Empty: none are shown. */
  details: string;
  /** Said once, instead of the keys. */
  note: string | undefined;
}

export function frameLines({ seen, state, listing, details, note }: FrameParts, frame: Frame): string[] {
  const { paint, columns, rows } = frame;
  const tabs = topViews
    .filter((view) => view !== 'help')
    .map((view) => (view === state.view ? paint.bold(`[${view}]`) : paint.dim(` ${view} `)))
    .join('');
  const head = [...wrapText(summary(seen), columns).map(paint.bold), tabs];
  const foot = ['', ...wrapText(note ?? footer(state), columns).map(note === undefined ? paint.dim : paint.green)];
  const below = details === '' ? [] : ['', ...wrapLines(details.trimEnd(), columns).split('\n')];
  const room = Math.max(3, rows - head.length - foot.length);
  const shownBelow = below.slice(0, Math.max(0, Math.floor(room * detailsShare)));
  if (listing.ids.length === 0) {
    const { heading } = listing.draw(0, 0);
    return [...head, ...heading, paint.dim(listing.empty), ...shownBelow, ...foot];
  }
  // The heading is known only once lines are drawn: first with one line, then with as many as fit.
  const { heading: probe } = listing.draw(0, 1);
  const most = Math.max(1, room - shownBelow.length - probe.length - 1);
  const from = firstLine(listing.ids, state.selected, most);
  const { heading, lines } = listing.draw(from, from + most);
  const left = listing.ids.length - from - lines.length;
  const marked = lines.map(
    (line, at) =>
      `${listing.ids[from + at] === state.selected && state.selected !== '' ? paint.bold('▸') : ' '}${line}`,
  );
  const more = left > 0 || from > 0 ? [paint.dim(` ${from + 1}–${from + lines.length} of ${listing.ids.length}`)] : [];
  return [...head, ...heading.map((line) => ` ${line}`), ...marked, ...more, ...shownBelow, ...foot];
}

/** The cursor is in the middle where it can be, so that both sides of it are seen. */
function firstLine(ids: readonly string[], selected: string, most: number): number {
  const at = selected === '' ? 0 : Math.max(0, ids.indexOf(selected));
  return Math.max(0, Math.min(ids.length - most, at - Math.floor(most / 2)));
}
