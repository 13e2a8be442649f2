// The other lists of `kerf top`, from the documents that the dashboard's page reads: pods that wait, NodePools, decisions,
// cost. Each line says the whole story in short; its details are what the page shows when it is opened.
import type { NodeVerdict } from '../../core/index.ts';
import type { Decision } from '../../ports/index.ts';
import { type CostView, decisionText, type PoolView, spanText, type WaitingView } from '../../view/index.ts';
import { renderVerdict } from '../explain/render-verdict.ts';
import { counted, fittingTable, type Paint, table } from '../output/index.ts';
import { decisionPage } from '../replay/decision-page.ts';
import type { Frame, Listing, Seen } from './picture.ts';
import { keyHelp, type TopState, type TopView } from './state.ts';

/** What each view asks for; nodes come with every look. */
export const documentOf: Readonly<Partial<Record<TopView, string>>> = {
  waiting: 'waiting',
  pools: 'pools',
  decisions: 'decisions',
  cost: 'cost',
};

interface Entry {
  id: string;
  cells: string[];
}

type Drawn = Omit<Frame, 'rows'>;

export function otherListing(state: TopState, document: object | undefined, seen: Seen, frame: Drawn): Listing {
  if (state.view === 'help') return helpListing(frame);
  if (document === undefined) return listed([], [], 'asking …', frame);
  const made = listings[state.view]?.(document, seen, frame) ?? listed([], [], '', frame);
  return made;
}

const listings: Readonly<Record<string, (document: object, seen: Seen, frame: Drawn) => Listing>> = {
  waiting: (document, seen, frame) => {
    const { groups } = document as WaitingView;
    const words = { noPlace: 'no place', newNode: 'new node', existingNode: 'fits', held: 'held' };
    const entries = groups.map(({ workload, count, since, outcome, message, reasons }, at) => ({
      id: `${workload} ${at}`,
      cells: [
        String(count),
        workload,
        spanText(Math.max(0, seen.nowMs - Date.parse(since))),
        words[outcome],
        reasons?.map(({ code, nodePool }) => `${code}${nodePool === undefined ? '' : ` (${nodePool})`}`).join(', ') ??
          message,
      ],
    }));
    return listed(['PODS', 'WORKLOAD', 'FOR', 'OUTCOME', 'WHY'], entries, 'no pod waits', frame);
  },
  pools: (document, _, frame) => {
    const { items } = document as { items: PoolView[] };
    const entries = items.map(({ name, ready, pausedUntil, nodes, pricePerHour, limits, verdicts, drifted }) => ({
      id: name,
      cells: [
        name,
        pausedUntil === undefined ? (ready ? 'ready' : 'not ready') : `paused until ${pausedUntil.slice(11, 19)}`,
        String(nodes),
        pricePerHour.toFixed(3),
        limits.map(({ resource, used, limit }) => `${resource} ${used}/${limit}`).join(' ') || '-',
        drifted === 0 ? '-' : String(drifted),
        verdicts.map(({ code, nodes: count }) => `${count} ${code}`).join(', ') || '-',
      ],
    }));
    const titles = ['POOL', 'STATE', 'NODES', '$/H', 'LIMITS', 'DRIFT', 'VERDICTS'];
    return listed(titles, entries, 'there is no NodePool', frame);
  },
  decisions: (document, _, frame) => {
    const { items } = document as { items: Decision[] };
    const entries = items.map((decision) => ({
      id: decision.id,
      cells: [decision.time.slice(11, 19), decision.what, outcomeText(decision), decisionText(decision)],
    }));
    return listed(['TIME', 'WHAT', 'OUTCOME', 'DECISION'], entries, 'nothing was decided yet', frame);
  },
  cost: (document, _, frame) => {
    const cost = document as CostView;
    const entries = cost.held.map(({ code, by, nodes, nodesLeftOut, savingsPerHour, suggestion }, at) => ({
      id: `${code} ${by} ${at}`,
      cells: [savingsPerHour.toFixed(3), counted(nodes.length + nodesLeftOut, 'node'), code, by, suggestion ?? ''],
    }));
    const none = 'nothing is held: every node that stays is needed, or goes by itself';
    const held = listed(['$/H', 'NODES', 'HELD BY', 'WHAT', 'WHAT TO CHANGE'], entries, none, frame);
    return { ...held, draw: (from, to) => withHeading(costLines(cost), held.draw(from, to)) };
  },
};

const withHeading = (lines: string[], drawn: ReturnType<Listing['draw']>): ReturnType<Listing['draw']> => ({
  ...drawn,
  heading: [...lines, '', ...drawn.heading],
});

function costLines({ pricePerHour, money, noMoney, byNamespace, notRequestedPerHour }: CostView): string[] {
  const bound = money === undefined ? `bound: ${noMoney ?? 'unknown'}` : `bound $${money.boundPerHour.toFixed(3)}/h`;
  const largest = byNamespace.slice(0, 4).map(({ name, pricePerHour: own }) => `${name} ${own.toFixed(3)}`);
  return [
    `now $${pricePerHour.toFixed(3)}/h   ${bound}   requested by no pod $${notRequestedPerHour.toFixed(3)}/h`,
    `by namespace: ${largest.join(', ') || 'none'}`,
  ];
}

const outcomeText = ({ outcome }: Decision): string =>
  outcome === undefined
    ? '-'
    : `${outcome.state}${outcome.seconds === undefined ? '' : ` ${spanText(outcome.seconds * 1000)}`}`;

function listed(titles: string[], entries: readonly Entry[], empty: string, { paint, columns }: Drawn): Listing {
  return {
    ids: entries.map(({ id }) => id),
    empty,
    draw(from, to) {
      const cells = entries.slice(from, to).map((each) => each.cells);
      const text = fittingTable(
        titles.map((title) => ({ title })),
        cells,
        {
          heading: paint.dim,
          width: columns,
          expendable: ['DRIFT', 'LIMITS', 'FOR', 'OUTCOME'],
        },
      );
      const [head = '', ...lines] = text.trimEnd().split('\n');
      return { heading: cells.length === 0 ? [] : [head], lines: lines.map((line) => shortened(line, columns)) };
    },
  };
}

/** The last column is a sentence; what does not fit is in the details. */
function shortened(line: string, columns: number): string {
  return line.length <= columns || line.includes('\u001b') ? line : `${line.slice(0, columns - 1)}…`;
}

function helpListing({ paint }: Drawn): Listing {
  const lines = table(
    [{ title: '' }, { title: '' }],
    keyHelp.map(([key, meaning]) => [paint.bold(key), meaning]),
  )
    .trimEnd()
    .split('\n');
  // One line about nothing after the other: there is no cursor.
  return {
    ids: lines.map(() => ''),
    empty: '',
    draw: (from, to) => ({ heading: [], lines: lines.slice(from, to) }),
  };
}

/** What is shown below the list for what the cursor is on: for a node its verdict, which has to be asked for. */
export function detailsOf(
  state: TopState,
  document: object | undefined,
  { nowMs, paint }: { nowMs: number; paint: Paint },
): string {
  const { view, selected } = state;
  if (document === undefined) return 'asking …';
  if (view === 'nodes')
    return (document as NodeVerdict[]).map((verdict) => renderVerdict(verdict, nowMs, paint)).join('\n');
  if (view === 'decisions') {
    const decision = (document as { items: Decision[] }).items.find(({ id }) => id === selected);
    return decision === undefined ? '' : decisionPage(decision);
  }
  if (view === 'waiting') return waitingDetails(document as WaitingView, selected);
  if (view === 'pools') return poolDetails(document as { items: PoolView[] }, selected);
  return '';
}

function waitingDetails({ groups }: WaitingView, selected: string): string {
  const group = groups.find(({ workload }, at) => `${workload} ${at}` === selected);
  if (group === undefined) return '';
  const reasons = group.reasons?.flatMap(({ code, message, suggestion, nodePool }) => [
    `  ${nodePool === undefined ? '' : `NodePool ${nodePool}: `}${message} (${code})`,
    ...(suggestion === undefined ? [] : [`     ${suggestion}`]),
  ]);
  const steps = group.steps?.map(
    ({ step, time }) => `${time === undefined ? '○' : '●'} ${step} ${time?.slice(11, 19) ?? ''}`,
  );
  return [
    `${group.workload}: ${group.message}`,
    ...(reasons ?? []),
    ...(steps === undefined ? [] : [`  ${steps.join('  ')}`]),
    `  ${group.pods.slice(0, 6).join(', ')}${group.count > 6 ? ` and ${group.count - 6} more` : ''}`,
  ].join('\n');
}

function poolDetails({ items }: { items: PoolView[] }, selected: string): string {
  const pool = items.find(({ name }) => name === selected);
  if (pool === undefined) return '';
  const budgets = pool.budgets.map(
    ({ reason, allowed, out, opens }) =>
      `${reason} ${out} of ${allowed ?? 'any number'}${opens === undefined ? '' : `, opens ${opens}`}`,
  );
  return [
    `NodePool ${pool.name}  ${pool.nodeClass}  weight ${pool.weight}`,
    ...(pool.message === undefined ? [] : [`  ${pool.message}`]),
    `  budgets: ${budgets.join('; ') || 'none'}`,
    `  ${pool.consolidationPolicy} after ${pool.consolidateAfter}, expires after ${pool.expireAfter}`,
    ...pool.verdicts.map(
      ({ code, nodes, pricePerHour, savingsPerHour }) =>
        `  ${counted(nodes, 'node')} ${code}, $${pricePerHour.toFixed(3)}/h${savingsPerHour > 0 ? `, could save $${savingsPerHour.toFixed(3)}/h` : ''}`,
    ),
  ].join('\n');
}

/** The command that says the same as what the cursor is on. */
export function commandFor({ view, selected }: Pick<TopState, 'view' | 'selected'>): string | undefined {
  if (selected === '') return undefined;
  if (view === 'nodes') return `kerf explain node ${selected}`;
  if (view === 'pools') return `kerf explain pool ${selected}`;
  if (view === 'decisions') return `kerf replay FILE --at ${selected}`;
  return undefined;
}
