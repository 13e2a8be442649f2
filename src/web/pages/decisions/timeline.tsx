// Decisions over time, one lane per kind. Drag over a part to see it alone, or use the buttons; the address holds it. Marks that
// would lie on each other are one, so any number can be shown.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { decisionText } from '../../../view/decision-text.ts';
import type { Decision } from '../../documents.ts';
import { clockTime, counted, span } from '../../format.ts';
import { go, route, setQuery } from '../../route.ts';
import { timeMs } from '../../store.ts';
import { type TimeScale, timeScale } from './time-scale.ts';

export const lanes: [string, string[]][] = [
  ['launch', ['launch', 'place']],
  ['disrupt', ['disrupt']],
  ['interrupt', ['interrupt', 'repair', 'expire']],
  ['refuse', ['refuse']],
  ['hold', ['hold']],
  ['change', ['config']],
];

const width = 1000;
const rowHeight = 22;
/** Marks nearer to each other than this are one. */
const markWidth = 4;
/** Less than this is a click. */
const leastDragged = 6;
const leastWindowMs = 10_000;

export interface TimeWindow {
  fromMs: number;
  toMs: number;
}

/** The part of time that the address asks for. */
export function windowNow(): TimeWindow | undefined {
  const [fromMs, toMs] = ['from', 'to'].map((name) => Date.parse(route.value.query.get(name) ?? '')) as [
    number,
    number,
  ];
  return Number.isNaN(fromMs) || Number.isNaN(toMs) || toMs <= fromMs ? undefined : { fromMs, toMs };
}

const show = ({ fromMs, toMs }: TimeWindow): void =>
  setQuery({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });

export function Timeline({ decisions, selected }: { decisions: readonly Decision[]; selected: string }) {
  const picture = useRef<SVGSVGElement>(null);
  const dragged = useSignal<[from: number, to: number] | undefined>(undefined);
  const chosen = windowNow();
  const times = decisions.map(({ time }) => Date.parse(time));
  // Of a recording, and of what was when one has gone back, more is known than has happened at the moment that is shown.
  const whole = { fromMs: Math.min(timeMs.value - 60_000, ...times), toMs: Math.max(timeMs.value, ...times) };
  const { fromMs, toMs } = chosen ?? whole;
  const scale = timeScale(times, fromMs, toMs, width);
  const isShown = ({ time }: Decision): boolean => Date.parse(time) >= fromMs && Date.parse(time) <= toMs;
  const place = (event: PointerEvent): number => {
    const box = picture.current?.getBoundingClientRect();
    return box === undefined ? 0 : Math.min(width, Math.max(0, ((event.clientX - box.left) / box.width) * width));
  };
  const zoom = (factor: number): void => {
    const length = Math.max(leastWindowMs, (toMs - fromMs) * factor);
    const middle = (fromMs + toMs) / 2;
    const from = Math.max(whole.fromMs, middle - length / 2);
    const to = Math.min(whole.toMs, from + length);
    if (from <= whole.fromMs && to >= whole.toMs) setQuery({ from: undefined, to: undefined });
    else show({ fromMs: from, toMs: to });
  };
  return (
    <figure class="lanes">
      <svg
        ref={picture}
        viewBox={`0 0 ${width} ${lanes.length * rowHeight}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${counted(decisions.filter(isShown).length, 'decision')} over ${span(toMs - fromMs)}`}
        onPointerDown={(event) => {
          dragged.value = [place(event), place(event)];
          picture.current?.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (dragged.value !== undefined) dragged.value = [dragged.value[0], place(event)];
        }}
        onPointerCancel={() => (dragged.value = undefined)}
        onPointerUp={() => {
          const [a, b] = (dragged.value ?? [0, 0]).toSorted((left, right) => left - right) as [number, number];
          dragged.value = undefined;
          if (b - a < leastDragged) return;
          const [from, to] = [scale.timeAt(a), scale.timeAt(b)];
          show({ fromMs: from, toMs: Math.max(to, from + leastWindowMs) });
        }}
      >
        {scale.folds.map((fold) => (
          <rect key={fold.fromMs} class="fold" x={fold.x} y={0} width={fold.width} height={lanes.length * rowHeight}>
            <title>{`nothing for ${span(fold.toMs - fold.fromMs)}`}</title>
          </rect>
        ))}
        {lanes.map(([name, kinds], at) => (
          <g key={name}>
            <line x1={0} x2={width} y1={at * rowHeight + 11} y2={at * rowHeight + 11} class="lane" />
            {marksOf(
              decisions.filter((each) => kinds.includes(each.what) && isShown(each)),
              scale,
            ).map(({ decision, x, count, ids }) => (
              <rect
                key={decision.id}
                class={`dot ${decision.what}${ids.includes(selected) ? ' on' : ''}`}
                x={x - 2}
                y={at * rowHeight + (count > 1 ? 2 : 4)}
                width={markWidth}
                height={count > 1 ? 18 : 14}
                onClick={() => go('decisions', decision.id, Object.fromEntries(route.peek().query))}
              >
                <title>
                  {count > 1 ? `${count} decisions` : `${clockTime(decision.time)} ${decisionText(decision)}`}
                </title>
              </rect>
            ))}
          </g>
        ))}
        {timeMs.value < toMs && timeMs.value >= fromMs && (
          <line
            class="moment"
            x1={scale.x(timeMs.value)}
            x2={scale.x(timeMs.value)}
            y1={0}
            y2={lanes.length * rowHeight}
          >
            <title>the moment that is shown</title>
          </line>
        )}
        {dragged.value !== undefined && (
          <rect
            class="brush"
            x={Math.min(...dragged.value)}
            y={0}
            width={Math.abs(dragged.value[1] - dragged.value[0])}
            height={lanes.length * rowHeight}
          />
        )}
      </svg>
      <div class="names" aria-hidden="true">
        {lanes.map(([name]) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <figcaption class="faint">
        <span>{clockTime(fromMs)}</span>
        <span class="zoom" role="group" aria-label="Part of the time">
          {scale.folds.length > 0 && <span>shaded: nothing happened</span>}
          <button type="button" class="small" aria-label="Longer" title="a longer time" onClick={() => zoom(2)}>
            −
          </button>
          <button type="button" class="small" aria-label="Shorter" title="a shorter time" onClick={() => zoom(0.5)}>
            +
          </button>
          {chosen !== undefined && (
            <button type="button" class="small" onClick={() => setQuery({ from: undefined, to: undefined })}>
              the whole time
            </button>
          )}
        </span>
        <span>{clockTime(toMs)}</span>
      </figcaption>
    </figure>
  );
}

interface Mark {
  decision: Decision;
  x: number;
  count: number;
  ids: string[];
}

/** Those that would lie on each other are one mark. */
function marksOf(decisions: readonly Decision[], scale: TimeScale): Mark[] {
  const marks = new Map<number, Mark>();
  for (const decision of decisions) {
    const x = scale.x(Date.parse(decision.time));
    const column = Math.round(x / markWidth);
    const known = marks.get(column);
    if (known === undefined) marks.set(column, { decision, x, count: 1, ids: [decision.id] });
    else {
      known.count += 1;
      known.ids.push(decision.id);
    }
  }
  return [...marks.values()];
}
