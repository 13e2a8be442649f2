// The header of every page: which cluster, its time, what it costs, whether what is shown is live; and the way to the pages.
import { useEffect, useRef } from 'preact/hooks';
import { clockTime, perHour, whole } from './format.ts';
import { seriousFindings } from './pages/examined.ts';
import { Spark } from './parts/parts.tsx';
import { hrefOf, route, type View } from './route.ts';
import { info, link, prices, timeMs, totals } from './store.ts';

/** In the order of the keys 1 to 7. */
export const titles: Readonly<Record<View, string>> = {
  map: 'Map',
  waiting: 'Waiting',
  pools: 'Pools',
  decisions: 'Decisions',
  cost: 'Cost',
  'what-if': 'What if',
  doctor: 'Doctor',
  shadow: 'Shadow',
};
const pages = Object.entries(titles) as [View, string][];

const modes: Readonly<Record<string, string>> = {
  up: 'simulated',
  controller: 'controller',
  shadow: 'shadow',
  outside: 'seen from outside',
  recording: 'recording',
};

export function Header({ onPalette }: { onPalette: () => void }) {
  const { view } = route.value;
  const { nodes, pods, waiting, pricePerHour } = totals.value;
  const now = info.value;
  const time = new Date(timeMs.value);
  const serious = seriousFindings();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where the pages do not fit side by side, the one that is shown has to be seen.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view]);
  return (
    <header class="top">
      <div class="brand">
        <a href={hrefOf('map')} class="logo">
          Kerf
        </a>
        <span class="cluster">
          {now === undefined
            ? ''
            : now.mode === 'up'
              ? 'simulated cluster'
              : `${now.cluster} · ${modes[now.mode] ?? now.mode}`}
        </span>
      </div>
      <dl class="totals">
        <div class="price">
          <dt>cost</dt>
          <dd>
            {perHour(pricePerHour)} <Spark values={prices.value} label="Cost over the last minutes" />
          </dd>
        </div>
        <div>
          <dt>nodes</dt>
          <dd>{whole(nodes)}</dd>
        </div>
        <div>
          <dt>pods</dt>
          <dd>{whole(pods)}</dd>
        </div>
        <div class={waiting > 0 ? 'attention' : ''}>
          <dt>waiting</dt>
          <dd>{whole(waiting)}</dd>
        </div>
        <div class="clock">
          <dt>time</dt>
          <dd>
            <time dateTime={time.toISOString()} title={`${time.toISOString()} (UTC)`}>
              {clockTime(timeMs.value)}
            </time>
            {now !== undefined && now.isPast === true && ' (past)'}
            {now !== undefined && now.isPast !== true && now.paused && ' paused'}
            {now !== undefined && now.isPast !== true && !now.paused && now.speed !== 1 && ` ${now.speed}×`}
          </dd>
        </div>
      </dl>
      <span class={`link ${link.value}`} role="status">
        {link.value === 'live' ? '● live' : link.value === 'stale' ? '○ not live' : '… connecting'}
      </span>
      <button type="button" class="small jump" onClick={onPalette} title="Jump to a node, pool or page (⌘K)">
        jump <kbd>⌘K</kbd>
      </button>
      <nav aria-label="Pages" ref={nav}>
        {pages
          .filter(([page]) => page !== 'shadow' || now?.mode === 'shadow')
          .map(([page, title]) => (
            <a key={page} href={hrefOf(page)} aria-current={view === page ? 'page' : undefined}>
              {title}
              {page === 'doctor' && serious.length > 0 && <span class="badge">{whole(serious.length)}</span>}
              {page === 'waiting' && waiting > 0 && <span class="badge">{whole(waiting)}</span>}
            </a>
          ))}
      </nav>
    </header>
  );
}
