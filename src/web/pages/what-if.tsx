// What if: manifests written over what is there, a node or zone gone, other prices, more pods; before and after, nothing
// applied.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { RequestFailed, read, send } from '../api.ts';
import type { WhatIfResult } from '../documents.ts';
import { clockTime, counted, perHour } from '../format.ts';
import { Copy } from '../parts/parts.tsx';
import { route } from '../route.ts';
import { cluster, info, whatIf } from '../store.ts';

export function WhatIf() {
  const { query } = route.value;
  const text = useSignal('');
  const remove = useSignal(query.get('remove') ?? '');
  const zone = useSignal('');
  const factor = useSignal('1');
  const workload = useSignal('');
  const times = useSignal('2');
  const failed = useSignal<string | undefined>(undefined);
  const pool = query.get('pool');
  useEffect(() => {
    if (pool === null) return;
    void read<{ name: string; spec: object }>(`pools/${encodeURIComponent(pool)}`).then(({ name, spec }) => {
      const object = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec };
      text.value = JSON.stringify(object, undefined, 2);
    });
  }, [pool]);
  const zones = [...new Set([...(cluster.shown?.nodes.values() ?? [])].map((row) => row.zone))]
    .filter((each) => each !== '')
    .sort();
  const workloads = [...(cluster.shown?.dictionaries.workload ?? [])].sort();
  const run = async (day = false): Promise<void> => {
    failed.value = undefined;
    try {
      const started = await send<WhatIfResult>('what-if', {
        manifests: text.value,
        ...(day && { day }),
        ...(remove.value !== '' && { removeNodes: [remove.value] }),
        ...(zone.value !== '' && { zoneGone: zone.value }),
        ...(factor.value !== '1' && { spotPriceFactor: Number(factor.value) }),
        ...(workload.value !== '' && { scale: [{ workload: workload.value, factor: Number(times.value) }] }),
      });
      // A quick answer may have come over the stream before this one.
      if (whatIf.peek()?.id !== started.id) whatIf.value = started;
    } catch (error) {
      failed.value =
        error instanceof RequestFailed
          ? `${error.message}${error.problem.fix ? `: ${error.problem.fix}` : ''}`
          : String(error);
    }
  };
  const result = whatIf.value;
  const running = result?.state === 'running' ? result.id : undefined;
  useEffect(() => {
    if (running === undefined) return undefined;
    // The stream tells the result; asking is for a page that was not connected at that moment.
    const timer = setInterval(() => {
      void read<WhatIfResult>(`what-if/${running}`).then((now) => {
        if (whatIf.peek()?.id === now.id) whatIf.value = now;
      });
    }, 1_500);
    return () => clearInterval(timer);
  }, [running]);
  return (
    <div class="page what-if">
      <section>
        <h2>change</h2>
        <div class="choices">
          <label>
            a zone is gone
            <select value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value)}>
              <option value="">none</option>
              {zones.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label>
            spot prices ×
            <input
              type="number"
              step="0.1"
              min="0.1"
              value={factor.value}
              onInput={(event) => (factor.value = event.currentTarget.value)}
            />
          </label>
          <label>
            more pods of
            <select value={workload.value} onChange={(event) => (workload.value = event.currentTarget.value)}>
              <option value="">none</option>
              {workloads.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label>
            ×
            <input
              type="number"
              step="1"
              min="1"
              value={times.value}
              onInput={(event) => (times.value = event.currentTarget.value)}
            />
          </label>
          <label>
            this node is gone
            <input
              value={remove.value}
              placeholder="name of a node"
              onInput={(event) => (remove.value = event.currentTarget.value)}
            />
          </label>
        </div>
        <label class="manifests">
          manifests, written over what is there
          <textarea
            rows={14}
            spellcheck={false}
            placeholder={'apiVersion: karpenter.sh/v1\nkind: NodePool\n…'}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        <p class="actions">
          <button type="button" class="primary" disabled={result?.state === 'running'} onClick={() => void run()}>
            {result?.state === 'running' ? 'planning …' : 'run'}
          </button>
          {result?.state === 'running' && (
            <button type="button" onClick={() => void send(`what-if/${result.id}`, {}, 'DELETE')}>
              cancel
            </button>
          )}
          {info.value?.recorded !== undefined && (
            <button
              type="button"
              disabled={result?.state === 'running' || text.value === ''}
              title="The recorded pods twice from the beginning: with the NodePools as they were, and with this one"
              onClick={() => void run(true)}
            >
              compare the recorded time
            </button>
          )}
          {text.value !== '' && (
            <Copy text={`kubectl apply -f - <<'EOF'\n${text.value}\nEOF`} label="copy kubectl apply" />
          )}
          <span class="faint">nothing is changed anywhere</span>
        </p>
        {failed.value !== undefined && <p class="problem">{failed.value}</p>}
      </section>
      <section aria-live="polite">
        <h2>before and after</h2>
        {result === undefined || result.state === 'running' ? (
          <p class="faint">{result === undefined ? 'Change something, then run.' : 'Planning both …'}</p>
        ) : (
          <Result result={result} />
        )}
      </section>
    </div>
  );
}

function Result({ result }: { result: WhatIfResult }) {
  const { before, after, drift = [], losePlace = [], gainPlace = [], newNodes = [] } = result;
  return (
    <>
      {result.findings.map((finding) => (
        <p key={finding.message} class={finding.severity === 'error' ? 'problem' : 'faint'}>
          {finding.line !== undefined && `line ${finding.line}: `}
          {finding.message}
        </p>
      ))}
      {result.state !== 'done' && <p class="problem">{result.message}</p>}
      {before !== undefined && after !== undefined && (
        <table class="plain figures-table">
          <thead>
            <tr>
              <th scope="col" />
              <th scope="col" class="right">
                before
              </th>
              <th scope="col" class="right">
                after
              </th>
              <th scope="col" class="right">
                change
              </th>
            </tr>
          </thead>
          <tbody>
            <Line name="dollars an hour" before={before.pricePerHour} after={after.pricePerHour} isMoney />
            <Line name="nodes to launch" before={before.newNodes} after={after.newNodes} />
            <Line name="pods without a place" before={before.unschedulable} after={after.unschedulable} />
            <Line name="nodes that would go" before={before.going} after={after.going} />
            <Line name="what their going saves" before={before.goingPerHour} after={after.goingPerHour} isMoney />
          </tbody>
        </table>
      )}
      {result.day !== undefined && <Day day={result.day} />}
      {(result.moved ?? 0) > 0 && <p>{counted(result.moved ?? 0, 'pod')} would have to move.</p>}
      {drift.map(({ nodePool, nodes }) => (
        <p key={nodePool}>
          {counted(nodes.length, 'node')} of {nodePool} would drift (the template's hash changes) and be replaced within
          its budgets.
        </p>
      ))}
      {losePlace.length > 0 && <p class="problem">no place any more: {losePlace.join(', ')}</p>}
      {gainPlace.length > 0 && <p>gets a place: {gainPlace.join(', ')}</p>}
      {newNodes.length > 0 && (
        <ul class="plain-list">
          {newNodes.slice(0, 12).map((node, at) => (
            <li key={at}>
              {node.instanceType} {node.zone} {node.capacityType} {perHour(node.pricePerHour)} for{' '}
              {counted(node.pods, 'pod')}
            </li>
          ))}
        </ul>
      )}
      {result.tookMs !== undefined && <p class="faint">{(result.tookMs / 1000).toFixed(1)} s</p>}
    </>
  );
}

/** The same pods under two configurations. */
function Day({ day: { from, to, before, after } }: { day: NonNullable<WhatIfResult['day']> }) {
  const hours = (Date.parse(to) - Date.parse(from)) / 3_600_000;
  const daily = (dollars: number): number => (hours > 0 ? (dollars / hours) * 24 : 0);
  return (
    <>
      <table class="plain figures-table">
        <caption class="faint">
          The pods of {clockTime(from)} to {clockTime(to)}, played twice from no nodes at all
        </caption>
        <thead>
          <tr>
            <th scope="col" />
            <th scope="col" class="right">
              A: as it was
            </th>
            <th scope="col" class="right">
              B: with the change
            </th>
            <th scope="col" class="right">
              difference
            </th>
          </tr>
        </thead>
        <tbody>
          <Line name="dollars" before={before.dollars} after={after.dollars} isMoney />
          <Line name="dollars a day" before={daily(before.dollars)} after={daily(after.dollars)} isMoney />
          <Line name="pods moved" before={before.evictions} after={after.evictions} />
          <Line name="nodes launched" before={before.launched} after={after.launched} />
          <Line name="nodes removed" before={before.removed} after={after.removed} />
          <Line name="most nodes at once" before={before.mostNodes} after={after.mostNodes} />
        </tbody>
      </table>
      <p class="faint">
        Without drift, expiry and interruptions; nodes join at once. As `kerf replay --with` plays it.
      </p>
    </>
  );
}

function Line({
  name,
  before,
  after,
  isMoney = false,
}: {
  name: string;
  before: number;
  after: number;
  isMoney?: boolean;
}) {
  const text = (value: number): string => (isMoney ? `$${value.toFixed(3)}` : String(value));
  const change = after - before;
  return (
    <tr>
      <td>{name}</td>
      <td class="right">{text(before)}</td>
      <td class="right">{text(after)}</td>
      <td class="right">{Math.abs(change) < 0.0005 ? '' : `${change > 0 ? '+' : '−'}${text(Math.abs(change))}`}</td>
    </tr>
  );
}
