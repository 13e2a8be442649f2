// NodePools: what they have, what limits and budgets leave, when they open, what holds them back.
import type { PoolView } from '../documents.ts';
import { counted, dayTime, durationMs, perHour, span } from '../format.ts';
import { Copy, Empty, useDocument } from '../parts/parts.tsx';
import { hrefOf } from '../route.ts';
import { cluster, timeMs, version } from '../store.ts';
import { type Wording, wordingFor } from '../words.ts';

const sample = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements:
        - { key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand] }
  limits: { cpu: 1000 }
`;

export function Pools() {
  const { data, failed } = useDocument<{ items: PoolView[] }>('pools', 4_000);
  if (data === undefined) return <KnownPools failed={failed} />;
  if (data.items.length === 0) {
    return (
      <Empty title="There is no NodePool">
        <p>Without one, no node is launched. A first one to copy:</p>
        <pre>{sample}</pre>
        <Copy text={sample} label="copy" />
      </Empty>
    );
  }
  return (
    <div class="page">
      <h1>{counted(data.items.length, 'NodePool')}</h1>
      <ul class="cards">
        {data.items.map((pool) => (
          <Pool key={pool.name} pool={pool} />
        ))}
      </ul>
    </div>
  );
}

/** What the map knows of them, until the rest is worked out. */
function KnownPools({ failed }: { failed: string | undefined }) {
  void version.value;
  const pools = new Map<string, { nodes: number; pricePerHour: number }>();
  for (const { pool, pricePerHour } of cluster.shown?.nodes.values() ?? []) {
    const known = pools.get(pool) ?? { nodes: 0, pricePerHour: 0 };
    pools.set(pool, { nodes: known.nodes + 1, pricePerHour: known.pricePerHour + pricePerHour });
  }
  return (
    <div class="page">
      <h1>NodePools</h1>
      <p class="faint">{failed ?? 'Working out limits, budgets and verdicts …'}</p>
      <ul class="cards">
        {[...pools]
          .filter(([name]) => name !== '')
          .map(([name, { nodes, pricePerHour }]) => (
            <li key={name} class="card pool">
              <div class="head">
                <span class="name">{name}</span>
                <a href={hrefOf('map', '', { q: `pool=${name}` })}>{counted(nodes, 'node')}</a>
                <span>{perHour(pricePerHour)}</span>
              </div>
            </li>
          ))}
      </ul>
    </div>
  );
}

function Pool({ pool }: { pool: PoolView }) {
  return (
    <li class="card pool">
      <div class="head">
        <span class="name">{pool.name}</span>
        <span class={`mark ${pool.ready ? 'coming' : 'going'}`}>
          {pool.ready
            ? '✓ ready'
            : pool.pausedUntil === undefined
              ? '! not ready'
              : `! paused until ${dayTime(pool.pausedUntil)}`}
        </span>
        <a href={hrefOf('map', '', { q: `pool=${pool.name}` })}>{counted(pool.nodes, 'node')}</a>
        <span>{perHour(pool.pricePerHour)}</span>
        {pool.drifted > 0 && <span>{pool.drifted} drifted</span>}
        <span class="faint">
          {pool.nodeClass} · weight {pool.weight} · {pool.static ? 'static' : pool.consolidationPolicy} after{' '}
          {pool.consolidateAfter} · expires after {pool.expireAfter}
        </span>
      </div>
      {pool.message !== undefined && <p class="problem">{pool.message}</p>}
      <Machines pool={pool} />
      <div class="columns">
        <section>
          <h2>limits</h2>
          {pool.limits.length === 0 && <p class="faint">none</p>}
          {pool.limits.map(({ resource, used, limit }) => (
            <Limit key={resource} resource={resource} used={used} limit={limit} />
          ))}
        </section>
        <section>
          <h2>budgets</h2>
          <table class="plain">
            <tbody>
              {pool.budgets.map((budget) => (
                <tr key={budget.reason}>
                  <td>{budget.reason}</td>
                  <td class="right">
                    {budget.allowed === undefined
                      ? `${budget.out} out, no limit`
                      : `${budget.out} of ${budget.allowed} out`}
                  </td>
                  {pool.budgets.some(({ opens }) => opens !== undefined) && (
                    <td class="faint">
                      {budget.opens === undefined ? '' : `opens in ${span(Date.parse(budget.opens) - timeMs.value)}`}
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
          <Week allowed={pool.week} />
        </section>
        <section>
          <h2>verdicts</h2>
          <table class="plain">
            <tbody>
              {byWord(pool.verdicts).map(({ word, class: own, nodes, pricePerHour }) => (
                <tr key={word}>
                  <td>
                    <a
                      class={`mark ${own}`}
                      href={hrefOf('map', '', { q: `pool=${pool.name} word=${word.replaceAll(' ', '-')}` })}
                    >
                      {word}
                    </a>
                  </td>
                  <td class="right">{counted(nodes, 'node')}</td>
                  <td class="right">{perHour(pricePerHour)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {pool.verdicts.length === 0 && <p class="faint">no nodes</p>}
        </section>
      </div>
      <p class="actions">
        <a class="small button" href={hrefOf('what-if', '', { pool: pool.name })}>
          edit in a what-if
        </a>
        <a class="small button" href={hrefOf('decisions', '', { object: pool.name })}>
          its decisions
        </a>
        <Copy text={`kerf explain nodepool ${pool.name}`} label="copy kerf explain" />
      </p>
    </li>
  );
}

/** Where its nodes are, of which capacity, and which of them expires first. */
function Machines({ pool: { name, expireAfter } }: { pool: PoolView }) {
  void version.value;
  const rows = [...(cluster.shown?.nodes.values() ?? [])].filter(({ pool }) => pool === name);
  if (rows.length === 0) return null;
  const parts = (key: 'capacityType' | 'zone'): string =>
    [...Map.groupBy(rows, (row) => row[key] || 'unknown')]
      .sort(([, left], [, right]) => right.length - left.length)
      .map(([value, own]) => `${value} ${own.length}`)
      .join(', ');
  const lifetimeMs = durationMs(expireAfter);
  const oldest = rows
    .filter(({ createdMs }) => createdMs > 0)
    .sort((left, right) => left.createdMs - right.createdMs)[0];
  return (
    <p class="faint">
      {parts('capacityType')} · {parts('zone')}
      {lifetimeMs !== undefined && oldest !== undefined && (
        <>
          {' · '}
          <a href={hrefOf('map', '', { node: oldest.name })}>{oldest.name}</a> expires first, in{' '}
          {span(Math.max(0, oldest.createdMs + lifetimeMs - timeMs.value))}
        </>
      )}
    </p>
  );
}

/** Codes that say the same to a person are one line. */
function byWord(verdicts: PoolView['verdicts']): (Wording & { nodes: number; pricePerHour: number })[] {
  const words = new Map<string, Wording & { nodes: number; pricePerHour: number }>();
  for (const { nodes, pricePerHour, ...verdict } of verdicts) {
    const wording = wordingFor(verdict);
    const sum = words.get(wording.word) ?? { ...wording, nodes: 0, pricePerHour: 0 };
    words.set(wording.word, {
      ...sum,
      nodes: sum.nodes + nodes,
      pricePerHour: sum.pricePerHour + pricePerHour,
    });
  }
  return [...words.values()].sort((left, right) => right.pricePerHour - left.pricePerHour);
}

function Limit({ resource, used, limit }: { resource: string; used: string; limit: string }) {
  const [a, b] = [Number.parseFloat(used), Number.parseFloat(limit)];
  const isComparable = /^[\d.]+$/.test(used) && /^[\d.]+$/.test(limit) && b > 0;
  return (
    <div class="meter">
      <span class="name">{resource}</span>
      {isComparable && (
        <span class="track">
          <span class="fill" style={{ width: `${Math.min(100, (a / b) * 100)}%` }} />
        </span>
      )}
      <span class="text">
        {used} of {limit}
      </span>
    </div>
  );
}

/** Seven days from now, hour by hour: filled where nodes may go. */
function Week({ allowed }: { allowed: readonly number[] }) {
  if (allowed.length === 0) return null;
  const isSteady = allowed.every((each) => each === allowed[0]);
  if (isSteady) return <p class="faint">the same at every hour of the week</p>;
  const width = 252;
  const step = width / allowed.length;
  const days = [1, 2, 3, 4, 5, 6];
  return (
    <figure class="week">
      <svg width={width} height={26} role="img" aria-label="When nodes may go within the next seven days">
        {allowed.map((each, at) => (
          <rect
            key={at}
            x={at * step}
            y={each === 0 ? 20 : 4}
            width={step + 0.3}
            height={each === 0 ? 2 : 18}
            class={each === 0 ? 'shut' : 'open'}
          />
        ))}
        {days.map((day) => (
          <line key={day} x1={day * 24 * step} x2={day * 24 * step} y1={0} y2={26} class="day" />
        ))}
      </svg>
      <figcaption class="faint">next 7 days, from {dayTime(timeMs.peek())}; tall = nodes may go</figcaption>
    </figure>
  );
}
