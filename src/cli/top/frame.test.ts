// What is on the screen of `kerf top`: never more lines than there are, the cursor always among them.
import { expect, test } from 'vitest';
import type { Decision } from '../../ports/index.ts';
import { frameLines } from './frame.ts';
import { commandFor, detailsOf, otherListing } from './listings.ts';
import { nodeListing, type Seen } from './picture.ts';
import { firstState, type TopState } from './state.ts';
import { node, paint, seen } from './top.testing.ts';

const frame = { paint, columns: 100, rows: 20 };
const many = seen(
  Array.from({ length: 100 }, (_, at) => node(`n-${String(at).padStart(3, '0')}`, { pool: at < 50 ? 'a' : 'b' })),
);
const state = (more: Partial<TopState> = {}): TopState => ({ ...firstState('name'), ...more });
function linesFor(own: TopState, of: Seen = many, details = ''): string[] {
  const listing = nodeListing(of, own, frame);
  return frameLines({ seen: of, state: own, listing, details, note: undefined }, frame);
}

test('the picture fits the screen, wherever the cursor is, and the cursor is on it', () => {
  for (const at of [0, 1, 7, 50, 98, 99]) {
    const selected = `n-${String(at).padStart(3, '0')}`;
    for (const details of ['', 'x\n'.repeat(40)]) {
      const lines = linesFor(state({ selected }), many, details);
      expect(lines.length).toBeLessThanOrEqual(frame.rows);
      expect(lines.filter((line) => line.startsWith('▸'))).toEqual([expect.stringContaining(selected)]);
    }
  }
});

test('what is left out is counted', () => {
  expect(linesFor(state()).join('\n')).toMatch(/ 1–\d+ of 100/);
  expect(linesFor(state(), seen([node('one')])).join('\n')).not.toContain(' of ');
});

test('groups have a heading each, with what they come to, that no cursor stands on', () => {
  const listing = nodeListing(many, state({ group: 'pool' }), frame);
  expect(listing.ids.filter((id) => id === '')).toHaveLength(2);
  expect(linesFor(state({ group: 'pool' })).join('\n')).toContain('a  50 nodes  $10.00/h');
});

const decision: Decision = {
  kind: 'Decision',
  id: 'd-0042',
  time: '2026-11-16T12:41:07Z',
  what: 'launch',
  objects: [{ kind: 'NodeClaim', name: 'default-abcde' }],
  reasons: [{ code: 'InsufficientResources', message: '8 pods fit on no node' }],
  outcome: { state: 'done', seconds: 41 },
};

test('decisions are listed with their outcome, and opened with why', () => {
  const own = state({ view: 'decisions', selected: 'd-0042' });
  const document = { items: [decision] };
  const listing = otherListing(own, document, many, frame);
  const text = frameLines({ seen: many, state: own, listing, details: '', note: undefined }, frame).join('\n');
  expect(text).toMatch(/▸12:41:07 +launch +done 41 seconds +launch default-abcde/);
  expect(detailsOf(own, document, { nowMs: 0, paint })).toContain(
    'because 8 pods fit on no node (InsufficientResources)',
  );
});

test('each view says what it is when there is nothing, or not yet', () => {
  const empty = (view: TopState['view'], document: object | undefined): string =>
    otherListing(state({ view }), document, many, frame).empty;
  expect(empty('waiting', { groups: [] })).toBe('no pod waits');
  expect(empty('decisions', { items: [] })).toBe('nothing was decided yet');
  expect(empty('pools', { items: [] })).toBe('there is no NodePool');
  expect(empty('pools', undefined)).toBe('asking …');
});

test('the command to copy says the same as what the cursor is on', () => {
  expect(commandFor({ view: 'nodes', selected: 'n-1' })).toBe('kerf explain node n-1');
  expect(commandFor({ view: 'decisions', selected: 'd-0042' })).toBe('kerf replay FILE --at d-0042');
  expect(commandFor({ view: 'nodes', selected: '' })).toBeUndefined();
});
