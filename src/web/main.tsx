// The page: starts to follow the cluster, shows the view that the address names, listens to the few keys that work everywhere.
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Header, titles } from './header.tsx';
import { Jump } from './jump.tsx';
import { MapView, zoomBy } from './map/map-view.tsx';
import { Cost } from './pages/cost.tsx';
import { Decisions } from './pages/decisions/decisions.tsx';
import { Doctor } from './pages/doctor.tsx';
import { keepExamined, seriousFindings } from './pages/examined.ts';
import { Pools } from './pages/pools.tsx';
import { Shadow } from './pages/shadow.tsx';
import { Waiting } from './pages/waiting.tsx';
import { WhatIf } from './pages/what-if/what-if.tsx';
import { warm } from './parts/parts.tsx';
import { Caption, followMoment, Player } from './player.tsx';
import { go, hrefOf, route, setQuery, type View } from './route.ts';
import { cluster, info, keepUsage, link, problem, start } from './store.ts';
import './style.css';

const overlay = signal<'none' | 'jump' | 'keys'>('none');

const pages: Readonly<Record<View, () => preact.JSX.Element | null>> = {
  map: MapView,
  waiting: Waiting,
  pools: Pools,
  decisions: Decisions,
  cost: Cost,
  'what-if': WhatIf,
  doctor: Doctor,
  shadow: Shadow,
};

const keys: readonly [string, string, () => void][] = [
  ['⌘K', 'jump to anything', () => (overlay.value = 'jump')],
  ['/', 'filter', () => document.getElementById('filter')?.focus()],
  ['t', 'map or table', () => setQuery({ as: route.peek().query.get('as') === 'table' ? undefined : 'table' })],
  ['← ↑ ↓ →', 'another node, on the map', () => undefined],
  ['+', 'larger boxes', () => zoomBy(1)],
  ['-', 'smaller boxes', () => zoomBy(-1)],
  ['1–7', 'pages', () => undefined],
  ['?', 'these keys', () => (overlay.value = overlay.value === 'keys' ? 'none' : 'keys')],
  ['Esc', 'close', () => (overlay.value = 'none')],
];

const mostNodesWarmed = 500;

async function warmUp(): Promise<void> {
  for (const path of ['pools', 'waiting', 'cost']) await warm(path);
}

function onKey(event: KeyboardEvent): void {
  const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    overlay.value = 'jump';
    return;
  }
  if (event.key === 'Escape') overlay.value = 'none';
  if (isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
  const views = Object.keys(pages) as View[];
  const page = views[Number(event.key) - 1];
  if (page !== undefined) go(page);
  const known = keys.find(([key]) => key === event.key);
  if (known !== undefined && event.key !== 'Escape') {
    event.preventDefault();
    known[2]();
  }
}

function App() {
  const Page = pages[route.value.view];
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const { view, rest } = route.value;
  const name = info.value?.cluster ?? '';
  useEffect(() => {
    const what = rest === '' ? titles[view] : `${rest} · ${titles[view]}`;
    document.title = `${what}${name === '' ? '' : ` · ${name}`} · Kerf`;
  }, [view, rest, name]);
  const isLive = link.value === 'live';
  useEffect(() => {
    // The other pages answer at once then; of a large cluster each would be a look at everything that no one may want.
    if (isLive && (cluster.shown?.nodes.size ?? 0) <= mostNodesWarmed) void warmUp();
  }, [isLive]);
  const [serious, ...more] = seriousFindings();
  const others = more.length;
  const hidden = info.value?.notVisible ?? [];
  return (
    <>
      <Header onPalette={() => (overlay.value = 'jump')} />
      {link.value === 'stale' && (
        <p class="banner" role="alert">
          Not live: {problem.value ?? 'the server does not answer'}. What is shown may be old; trying again …
        </p>
      )}
      {serious !== undefined && route.value.view !== 'doctor' && (
        <p class="banner note">
          <span class="mark going">{serious.severity}</span> {serious.summary}{' '}
          <a href={hrefOf('doctor')}>{others === 0 ? 'what to do' : `what to do, and ${others} more`}</a>
        </p>
      )}
      {info.value?.mode === 'shadow' && route.value.view !== 'shadow' && (
        <p class="banner note">
          A shadow: it plans beside the autoscaler in charge and changes nothing.{' '}
          <a href={hrefOf('shadow')}>what it would have done</a>
        </p>
      )}
      <Caption />
      {hidden.length > 0 && <p class="banner note">{hidden.join(' · ')}</p>}
      {/* It scrolls where the window is low: keys must reach it. */}
      <main class={route.value.view} tabIndex={0}>
        <h1 class="visually-hidden">{`Kerf: ${titles[view]}`}</h1>
        <Page />
      </main>
      <Player />
      {overlay.value === 'jump' && <Jump onClose={() => (overlay.value = 'none')} />}
      {overlay.value === 'keys' && (
        <div class="overlay" onClick={() => (overlay.value = 'none')}>
          <div class="dialog" role="dialog" aria-modal="true" aria-label="Keys">
            <dl class="keys">
              {keys.map(([key, meaning]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </div>
        </div>
      )}
    </>
  );
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void start();
followMoment();
void keepExamined();
void keepUsage();
