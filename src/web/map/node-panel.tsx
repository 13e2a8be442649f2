// The selected node: its whole verdict, what keeps it in the order in which it would have to change, what that would save,
// and what is on it. Equal to `kerf explain node NAME`.
import type { Cell, NodeRow } from '../../view/wire.ts';
import type { NodeVerdict } from '../documents.ts';
import { cores, counted, gibibytes, perHour, span } from '../format.ts';
import { Copy, sinceMs, useDocument } from '../parts/parts.tsx';
import { hrefOf, setQuery } from '../route.ts';
import { cluster, timeMs, usage, version } from '../store.ts';
import { glyphs, wordingFor } from '../words.ts';
import { colourOf, paletteNow } from './palette.ts';

export function NodePanel({ name }: { name: string }) {
  void version.value;
  const row = [...(cluster.shown?.nodes.values() ?? [])].find((each) => each.name === name);
  const { data, failed } = useDocument<NodeVerdict[]>(
    `nodes/${encodeURIComponent(name)}`,
    4_000,
    `${row?.verdict} ${row?.code}`,
  );
  const [verdict] = data ?? [];
  return (
    <aside class="panel" aria-label={`Node ${name}`}>
      <header>
        <h2>{name}</h2>
        <button type="button" class="small" aria-label="Close" onClick={() => setQuery({ node: undefined })}>
          ✕
        </button>
      </header>
      {row === undefined ? <p class="faint">This node is gone.</p> : <Facts row={row} />}
      {verdict !== undefined && <Verdict verdict={verdict} />}
      {verdict === undefined && failed !== undefined && row !== undefined && <p class="faint">{failed}</p>}
      {row !== undefined && <Pods cells={cluster.shown?.cells.get(row.key) ?? []} row={row} />}
      <p class="actions">
        <Copy text={`kerf explain node ${name}`} label="copy kerf explain" />
        <a class="small button" href={hrefOf('what-if', '', { remove: name })}>
          what if it were gone
        </a>
        {verdict?.nodeClaim !== undefined && (
          <a class="small button" href={hrefOf('decisions', '', { object: verdict.nodeClaim })}>
            its decisions
          </a>
        )}
      </p>
    </aside>
  );
}

function Facts({ row }: { row: NodeRow }) {
  const used = usage.value?.nodes[row.name];
  return (
    <>
      <p class="facts">
        {row.type || 'unknown type'} · {row.capacityType || 'unknown capacity'} · {row.zone || 'unknown zone'} · pool{' '}
        {row.pool || 'none'}
        <br />
        {row.pricePerHour > 0 ? perHour(row.pricePerHour) : 'price unknown'}
        {row.createdMs > 0 && ` · ${span(timeMs.value - row.createdMs)} old`} · {row.state}
      </p>
      <Bar
        label="cpu"
        used={row.cpuUsed}
        room={row.cpu}
        text={`${cores(row.cpuUsed)} of ${cores(row.cpu)} cores requested`}
      />
      {used !== undefined && <Bar label="" isUsage used={used[0]} room={row.cpu} text={`${cores(used[0])} in use`} />}
      <Bar
        label="memory"
        used={row.memoryUsed}
        room={row.memory}
        text={`${gibibytes(row.memoryUsed)} of ${gibibytes(row.memory)} GiB requested`}
      />
      {used !== undefined && (
        <Bar label="" isUsage used={used[1]} room={row.memory} text={`${gibibytes(used[1])} in use`} />
      )}
      {usage.value?.served === false && (
        <p class="faint">What it really uses is unknown: {usage.value.message?.slice(0, 120)}.</p>
      )}
    </>
  );
}

interface BarParts {
  label: string;
  used: number;
  room: number;
  text: string;
  isUsage?: boolean;
}

function Bar({ label, used, room, text, isUsage = false }: BarParts) {
  return (
    <div class={isUsage ? 'meter usage' : 'meter'}>
      <span class="name">{label}</span>
      <span class="track">
        <span class="fill" style={{ width: `${room === 0 ? 0 : Math.min(100, (used / room) * 100)}%` }} />
      </span>
      <span class="text">{text}</span>
    </div>
  );
}

function Verdict({ verdict }: { verdict: NodeVerdict }) {
  const code =
    verdict.verdict === 'keep'
      ? (verdict.blockers[0]?.code ?? '')
      : verdict.verdict === 'remove'
        ? 'Removable'
        : 'Replaceable';
  const savings = verdict.verdict === 'keep' ? (verdict.savingsIfFreedPerHour ?? 0) : verdict.savingsPerHour;
  const wording = wordingFor({ code, savingsPerHour: savings });
  const since = verdict.since === undefined ? '' : ` for ${span(sinceMs(verdict.since))}`;
  const freed = verdict.savingsIfFreedPerHour;
  return (
    <section class={`verdict ${wording.class}`}>
      {verdict.verdict === 'keep' ? (
        <p>
          <b>
            {glyphs[wording.class]} stays{since}
          </b>
          {freed !== undefined && freed > 0 && <> · freeing it would save {perHour(freed)}</>}
        </p>
      ) : (
        <p>
          <b>
            {glyphs[wording.class]} would be {verdict.verdict === 'remove' ? 'removed' : 'replaced'}
          </b>{' '}
          ({verdict.reason}), saving {perHour(verdict.savingsPerHour)}
          {verdict.replacements?.map((each) => (
            <span key={each.instanceType}>
              {' '}
              by {each.instanceType} in {each.zone}
            </span>
          ))}
        </p>
      )}
      {verdict.blockers.length > 0 && (
        <ol>
          {verdict.blockers.map((blocker) => (
            <li key={blocker.message}>
              {blocker.message} <code>{blocker.code}</code>
              {blocker.suggestion !== undefined && <span class="fix">{blocker.suggestion}</span>}
            </li>
          ))}
        </ol>
      )}
      {verdict.destinations !== undefined && (
        <p class="faint">its pods go to {verdict.destinations.slice(0, 3).join(', ')}</p>
      )}
    </section>
  );
}

function Pods({ cells, row }: { cells: readonly Cell[]; row: NodeRow }) {
  const palette = paletteNow();
  if (cells.length === 0) return <p class="faint">{counted(row.pods, 'pod')} on it</p>;
  return (
    <table class="plain">
      <caption class="visually-hidden">Pods by workload</caption>
      <thead>
        <tr>
          <th scope="col">workload</th>
          <th scope="col" class="right">
            pods
          </th>
          <th scope="col" class="right">
            cpu
          </th>
          <th scope="col" class="right">
            GiB
          </th>
        </tr>
      </thead>
      <tbody>
        {cells.map((cell) => (
          <tr key={`${cell.workload} ${cell.state}`}>
            <td>
              <span
                class="swatch"
                style={{ background: cell.state === 'daemon' ? palette.daemon : colourOf(cell.workload, palette) }}
              />
              {cell.workload}
              {cell.state !== 'running' && <span class="faint"> {cell.state}</span>}
            </td>
            <td class="right">{cell.count}</td>
            <td class="right">{cores(cell.cpu)}</td>
            <td class="right">{gibibytes(cell.memory)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
