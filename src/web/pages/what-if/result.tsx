// What a what-if came to: before and after, what would move, what would drift.
import type { WhatIfResult } from '../../documents.ts';
import { clockTime, counted, perHour } from '../../format.ts';

export function Result({ result }: { result: WhatIfResult }) {
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
      {drift.map(({ nodePool, reason, nodes }) => (
        <p key={`${nodePool} ${reason}`}>
          {counted(nodes.length, 'node')} of {nodePool} would drift{' '}
          {reason === 'RequirementsDrifted'
            ? "(their labels do not meet the pool's requirements)"
            : "(the template's hash changes)"}{' '}
          and be replaced within its budgets.
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
