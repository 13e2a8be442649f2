// The map: every node as a box, what its pods ask for inside, what keeps it on its edge. A canvas for the eye, an equal table
// (`t`) for everyone else; arrows move the selection, and a live region says the sentence.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { NodeRow } from '../../view/wire.ts';
import { filterOf } from '../filter.ts';
import { cores, counted, gibibytes, perHour, span } from '../format.ts';
import { Empty } from '../parts/parts.tsx';
import { route, setQuery } from '../route.ts';
import { cluster, info, lookCloser, timeMs, totals, usage, version } from '../store.ts';
import { wordingFor } from '../words.ts';
import { type ColourBy, detail, draw, sentenceOf } from './draw.ts';
import { type Box, boxAt, type GroupBy, type Layout, layOut, neighbour } from './layout.ts';
import { MoneyBar } from './money-bar.tsx';
import { NodePanel } from './node-panel.tsx';
import { colourOf, paletteNow } from './palette.ts';

const groupings: [GroupBy, string][] = [
  ['pool', 'pool'],
  ['zone', 'zone'],
  ['type', 'type'],
  ['capacityType', 'capacity'],
];

export function MapView() {
  void version.value;
  const { query } = route.value;
  const rows = [...(cluster.shown?.nodes.values() ?? [])];
  const selected = query.get('node') ?? undefined;
  const isTable = query.get('as') === 'table';
  return (
    <div class={`map${selected === undefined ? '' : ' with-panel'}`}>
      <MoneyBar rows={rows} />
      {rows.length > 0 && <Tools count={rows.length} isTable={isTable} />}
      <div class="stage">
        {rows.length === 0 ? (
          <NoNodes />
        ) : isTable ? (
          <NodeTable rows={rows} />
        ) : (
          <Canvas rows={rows} selected={selected} />
        )}
        {selected !== undefined && <NodePanel name={selected} />}
      </div>
    </div>
  );
}

function NoNodes() {
  const waiting = totals.value.waiting;
  const isLoaded = cluster.shown !== undefined;
  if (!isLoaded || info.value?.synced === false) return <Empty title="Reading the cluster …" />;
  return (
    <Empty title="No nodes yet">
      <p>
        {waiting === 0
          ? 'No pod waits for one.'
          : `${counted(waiting, 'pod')} ${waiting === 1 ? 'waits' : 'wait'}: ${whatComesNext()}.`}
      </p>
    </Empty>
  );
}

/** Where time stands still, nothing is planned until it goes on. */
function whatComesNext(): string {
  if (info.value?.mode === 'recording') return '“go on” plays the recording';
  return info.value?.paused === true ? 'time stands still' : 'the first launch is being planned';
}

const zooms = [1, 2, 4, 8, 16];
/** How many screens high the picture may be: with more, boxes are larger. */
const zoomOf = (query: URLSearchParams): number => zooms.find((each) => String(each) === query.get('zoom')) ?? 1;

/** One step nearer or further. */
export function zoomBy(step: 1 | -1): void {
  const next = zooms[zooms.indexOf(zoomOf(route.peek().query)) + step];
  if (next !== undefined) setQuery({ zoom: next === 1 ? undefined : String(next) });
}

function Tools({ count, isTable }: { count: number; isTable: boolean }) {
  const { query } = route.value;
  return (
    <div class="tools">
      <label>
        group
        <select
          value={query.get('group') ?? 'pool'}
          onChange={(event) => setQuery({ group: event.currentTarget.value })}
        >
          {groupings.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        colour
        <select
          value={query.get('colour') ?? 'workload'}
          onChange={(event) => setQuery({ colour: event.currentTarget.value })}
        >
          <option value="workload">workload</option>
          <option value="namespace">namespace</option>
          <option value="state">pod state</option>
        </select>
      </label>
      <label>
        size
        <select value={query.get('size') ?? 'cpu'} onChange={(event) => setQuery({ size: event.currentTarget.value })}>
          <option value="cpu">cpu</option>
          <option value="price">price</option>
        </select>
      </label>
      {!isTable && (
        <span class="zoom" role="group" aria-label="Zoom">
          <button type="button" class="small" aria-label="Smaller" title="smaller (−)" onClick={() => zoomBy(-1)}>
            −
          </button>
          <button type="button" class="small" aria-label="Larger" title="larger (+)" onClick={() => zoomBy(1)}>
            +
          </button>
        </span>
      )}
      <input
        id="filter"
        type="search"
        placeholder="filter: pool=gpu code=Pod* $>1"
        aria-label={`Filter ${count} nodes`}
        value={query.get('q') ?? ''}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
      <button
        type="button"
        class="small"
        aria-pressed={isTable}
        onClick={() => setQuery({ as: isTable ? undefined : 'table' })}
      >
        {isTable ? 'map' : 'table'}
      </button>
      {!isTable && <Key />}
    </div>
  );
}

const mostInKey = 7;

/** Which colour is which workload. */
function Key() {
  void version.value;
  const { query } = route.value;
  const colourBy = query.get('colour') ?? 'workload';
  if (cluster.shown === undefined || cluster.shown.nodes.size === 0) return null;
  const sizes = new Map<string, number>();
  for (const cells of cluster.shown.cells.values()) {
    for (const { workload, state, cpu } of cells) {
      const name = colourBy === 'namespace' ? (workload.split('/')[0] ?? '') : workload;
      if (state !== 'daemon') sizes.set(name, (sizes.get(name) ?? 0) + cpu);
    }
  }
  const palette = paletteNow();
  const names = [...sizes].sort((left, right) => right[1] - left[1]).map(([name]) => name);
  // Colours are given in this order, so that the largest differ most.
  for (const name of names) colourOf(name, palette);
  const colours: [string, string][] =
    cluster.shown.cells.size === 0
      ? [['cpu requested', palette.requested]]
      : colourBy === 'state'
        ? [
            ['running', palette.verdicts.coming],
            ['starting or ending', palette.verdicts.held],
            ['daemons', palette.daemon],
          ]
        : [
            ...names.slice(0, mostInKey).map((name): [string, string] => [name, colourOf(name, palette)]),
            ['daemons', palette.daemon],
          ];
  return (
    <ul class="key" aria-label="What the map shows">
      <li class="faint">
        {cluster.shown.cells.size === 0
          ? 'A box is a node, or several alike with what keeps them as a strip below:'
          : 'A box is a node, its colours are what pods request:'}
      </li>
      {colours.map(([name, background]) => (
        <li key={name}>
          <span class="swatch" style={{ background }} />
          {name}
        </li>
      ))}
      {colourBy !== 'state' && names.length > mostInKey && <li class="faint">and {names.length - mostInKey} more</li>}
      <li>
        <span class="swatch hatch" />
        free
      </li>
      {usage.value?.served === true && cluster.shown.cells.size > 0 && (
        <li>
          <span class="swatch in-use" />
          really in use
        </li>
      )}
      <li class="marks">
        <span class="mark held">■ held</span> <span class="mark going">✕ going</span>{' '}
        <span class="mark coming">↑ coming</span>
      </li>
    </ul>
  );
}

function Canvas({ rows, selected }: { rows: readonly NodeRow[]; selected: string | undefined }) {
  const { query } = route.value;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const hovered = useSignal<Box | undefined>(undefined);
  const isDark = useSignal(matchMedia('(prefers-color-scheme: dark)').matches);
  const groupBy = (query.get('group') ?? 'pool') as GroupBy;
  const sizeBy = query.get('size') === 'price' ? 'price' : 'cpu';
  const isShown = useMemo(() => filterOf(query.get('q') ?? ''), [query.get('q')]);
  const { width, height } = size.value;
  const zoom = zoomOf(query);
  const layout: Layout = useMemo(
    () => layOut(rows, { width: Math.max(200, width - 4), height: Math.max(120, height - 4) * zoom, groupBy, sizeBy }),
    [version.value, width, height, groupBy, sizeBy, zoom],
  );
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
    });
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const changed = (): void => {
      isDark.value = scheme.matches;
    };
    scheme.addEventListener('change', changed);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', changed);
    };
  }, []);
  const paint = useRef<() => void>(() => undefined);
  paint.current = () => {
    const element = canvas.current;
    const box = frame.current;
    const context = element?.getContext('2d');
    if (element === null || box === null || context === null || context === undefined || width === 0) return;
    const ratio = devicePixelRatio || 1;
    const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== pixelsWide || element.height !== pixelsHigh) {
      element.width = pixelsWide;
      element.height = pixelsHigh;
    }
    const top = box.scrollTop;
    context.setTransform(ratio, 0, 0, ratio, 2 * ratio, (2 - top) * ratio);
    draw(context, layout, {
      palette: paletteNow(),
      cells: cluster.shown?.cells ?? new Map(),
      colourBy: (query.get('colour') ?? 'workload') as ColourBy,
      usage: usage.peek()?.nodes ?? {},
      selected,
      hovered: hovered.peek()?.nodes[0]?.name,
      isShown,
      top: top - 4,
      bottom: top + height,
      width: width + 4,
    });
    const close = layout.boxes.filter(
      (each) =>
        each.nodes.length === 1 && each.height >= detail.bands && each.y < top + height && each.y + each.height > top,
    );
    void lookCloser(close.map(({ nodes }) => nodes[0]?.key ?? 0));
  };
  useEffect(() => {
    const handle = requestAnimationFrame(() => paint.current());
    return () => cancelAnimationFrame(handle);
  });
  const at = (event: { clientX: number; clientY: number }): Box | undefined => {
    const place = canvas.current?.getBoundingClientRect();
    const scrolled = frame.current?.scrollTop ?? 0;
    if (place === undefined) return undefined;
    return boxAt(layout, event.clientX - place.left - 2, event.clientY - place.top - 2 + scrolled);
  };
  const current = layout.boxes.find(({ nodes }) => nodes.some(({ name }) => name === selected));
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setQuery({ node: undefined });
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const next = current === undefined ? layout.boxes[0] : neighbour(layout, current, event.key);
    if (next !== undefined) setQuery({ node: next.nodes[0]?.name });
  };
  const tip = hovered.value;
  return (
    <div class="canvas-frame" ref={frame} onScroll={() => paint.current()}>
      <div style={{ height: `${Math.max(layout.height, 1)}px` }} class="canvas-room">
        <canvas
          ref={canvas}
          class="picture"
          style={{ width: `${width}px`, height: `${height}px` }}
          tabIndex={0}
          role="application"
          aria-label={`Map of ${rows.length} nodes. Arrows move the selection; press t for a table.`}
          onMouseMove={(event) => {
            const box = at(event);
            if (box !== hovered.peek()) {
              hovered.value = box;
              paint.current();
            }
          }}
          onMouseLeave={() => {
            hovered.value = undefined;
          }}
          onClick={(event) => {
            const box = at(event);
            if (box === undefined) setQuery({ node: undefined });
            else if (box.nodes.length > 1) {
              const [{ type, pool, zone }] = box.nodes as [NodeRow];
              setQuery({ as: 'table', q: `pool=${pool} type=${type} zone=${zone}` });
            } else setQuery({ node: box.nodes[0]?.name });
          }}
          onKeyDown={onKey}
        />
      </div>
      {tip !== undefined && <p class="tip">{sentenceOf(tip)}</p>}
      <p class="visually-hidden" aria-live="polite">
        {current === undefined ? '' : sentenceOf(current)}
      </p>
    </div>
  );
}

const mostRows = 500;

function NodeTable({ rows }: { rows: readonly NodeRow[] }) {
  const { query } = route.value;
  const sort = query.get('sort') ?? 'pricePerHour';
  const shown = rows.filter(filterOf(query.get('q') ?? ''));
  const value = (row: NodeRow): string | number => row[sort as keyof NodeRow];
  shown.sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    return typeof a === 'number' ? Number(b) - a : a < b ? -1 : 1;
  });
  const head = (name: keyof NodeRow, title: string, right = false) => (
    <th scope="col" class={right ? 'right' : ''} aria-sort={sort === name ? 'descending' : 'none'}>
      <button type="button" class="plain-button" onClick={() => setQuery({ sort: name })}>
        {title}
        {sort === name ? ' ▾' : ''}
      </button>
    </th>
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Nodes">
      <table class="nodes">
        <thead>
          <tr>
            {head('name', 'node')}
            {head('pool', 'pool')}
            {head('type', 'type')}
            {head('zone', 'zone')}
            {head('capacityType', 'capacity')}
            {head('cpuUsed', 'cpu', true)}
            {head('memoryUsed', 'GiB', true)}
            {head('pods', 'pods', true)}
            {head('pricePerHour', '$/h', true)}
            {head('createdMs', 'age', true)}
            {head('code', 'verdict')}
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, mostRows).map((row) => (
            <tr key={row.key}>
              <td class="name">
                <button type="button" class="plain-button link" onClick={() => setQuery({ node: row.name })}>
                  {row.name}
                </button>
              </td>
              <td class="what">{row.pool}</td>
              <td class="what">{row.type}</td>
              <td class="what">{row.zone}</td>
              <td class="what">{row.capacityType}</td>
              <td class="right wide">{`${cores(row.cpuUsed)}/${cores(row.cpu)}`}</td>
              <td class="right wide">{`${gibibytes(row.memoryUsed)}/${gibibytes(row.memory)}`}</td>
              <td class="right wide">{row.pods}</td>
              <td class="right price">{row.pricePerHour.toFixed(3)}</td>
              <td class="right age">{span(timeMs.value - row.createdMs)}</td>
              <td class="verdict">
                <span class={`mark ${wordingFor(row).class}`}>{wordingFor(row).word}</span>
                {row.savingsPerHour > 0 && <span class="faint"> {perHour(row.savingsPerHour)}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length > mostRows && (
        <p class="faint">… and {counted(shown.length - mostRows, 'more node')}: filter to see them</p>
      )}
    </div>
  );
}
