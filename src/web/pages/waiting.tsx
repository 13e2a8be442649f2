// Pods that wait: grouped by why, with the nearest miss of each pool and the change that helps, or the way their node has come.
import type { PodDocument, WaitingGroup, WaitingView } from '../documents.ts';
import { clockTime, counted, perHour, span } from '../format.ts';
import { Copy, Empty, ReasonText, sinceMs, useDocument } from '../parts/parts.tsx';
import { hrefOf, route } from '../route.ts';
import { recent, totals } from '../store.ts';

export function Waiting() {
  const { rest } = route.value;
  return rest === '' ? <Groups /> : <PodPage pod={rest} />;
}

function Groups() {
  const { data, failed } = useDocument<WaitingView>('waiting', 2_000, totals.value.waiting);
  const now = totals.value.waiting;
  if (failed !== undefined && data === undefined) return <Empty title={failed} />;
  // What is known at once, and what has to be worked out.
  if (data === undefined || (data.groups.length === 0 && now > 0)) {
    if (now === 0) return <NoneWaits />;
    return (
      <div class="page">
        <h1>{waitText(now)}</h1>
        <p class="faint">Working out why …</p>
      </div>
    );
  }
  if (data.groups.length === 0) return <NoneWaits />;
  return (
    <div class="page">
      <h1>
        {waitText(data.waiting)}
        {now !== data.waiting && <span class="faint small-note"> {now} now, looking again …</span>}
      </h1>
      <ul class="cards">
        {data.groups.map((group) => (
          <Group key={`${group.workload} ${group.outcome} ${group.message}`} group={group} />
        ))}
      </ul>
      {data.groupsLeftOut > 0 && <p class="faint">… and {counted(data.groupsLeftOut, 'more group')}</p>}
    </div>
  );
}

const waitText = (pods: number): string => `${counted(pods, 'pod')} ${pods === 1 ? 'waits' : 'wait'}`;

const mostStarts = 12;
const hourMs = 3_600_000;

/** Nothing to explain: how long pods waited for their nodes lately instead. */
function NoneWaits() {
  const starts = recent.value.filter(
    ({ what, outcome, time }) => what === 'launch' && outcome?.state === 'done' && sinceMs(time) < hourMs,
  );
  const slowest = starts.toSorted((left, right) => (right.outcome?.seconds ?? 0) - (left.outcome?.seconds ?? 0))[0];
  return (
    <div class="page">
      <h1>No pod waits</h1>
      <p class="faint">
        {totals.value.pods === 0
          ? 'No pod runs yet.'
          : `${counted(totals.value.pods, 'pod')} ${totals.value.pods === 1 ? 'runs' : 'run'}.`}{' '}
        When one finds no place, this page says why, and what would help.
      </p>
      {slowest !== undefined && (
        <section class="starts">
          <h2>the last nodes that pods waited for</h2>
          <p>
            {counted(starts.length, 'node')} joined within the last hour; the slowest,{' '}
            <a href={hrefOf('decisions', slowest.id)}>{slowest.objects[0]?.name}</a>, after{' '}
            {span((slowest.outcome?.seconds ?? 0) * 1000)}.
          </p>
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">asked for</th>
                <th scope="col">NodeClaim</th>
                <th scope="col">type</th>
                <th scope="col" class="right">
                  pods
                </th>
                <th scope="col" class="right">
                  joined after
                </th>
              </tr>
            </thead>
            <tbody>
              {starts.slice(0, mostStarts).map(({ id, time, objects, chosen, pods, outcome }) => (
                <tr key={id}>
                  <td>{clockTime(time)}</td>
                  <td>
                    <a href={hrefOf('decisions', id)}>{objects[0]?.name}</a>
                  </td>
                  <td>{`${chosen?.instanceType ?? ''} ${chosen?.capacityType ?? ''}`}</td>
                  <td class="right">{pods?.count ?? 0}</td>
                  <td class="right">{span((outcome?.seconds ?? 0) * 1000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

const outcomes: Readonly<Record<string, { word: string; class: string }>> = {
  noPlace: { word: 'no place', class: 'going' },
  newNode: { word: 'new node', class: 'coming' },
  existingNode: { word: 'has a place', class: 'settling' },
  held: { word: 'needs no new node', class: 'settling' },
};

/** How long nodes took to join lately: half of them took no longer. */
function usualSeconds(): number | undefined {
  const seconds = recent.value
    .flatMap(({ what, outcome }) => (what === 'launch' && outcome?.state === 'done' ? [outcome.seconds ?? 0] : []))
    .sort((left, right) => left - right);
  return seconds[Math.floor(seconds.length / 2)];
}

function Group({ group }: { group: WaitingGroup }) {
  const outcome = outcomes[group.outcome];
  const usual = usualSeconds();
  return (
    <li class="card">
      <div class="head">
        <b class="number">{group.count}</b>
        <span class="name">{group.workload}</span>
        <span class={`mark ${outcome?.class ?? ''}`}>{outcome?.word}</span>
        <span class="faint">{span(sinceMs(group.since))}</span>
      </div>
      {group.reasons === undefined ? (
        <p>{group.message}</p>
      ) : (
        <ul class="reasons">
          {group.reasons.map((reason) => (
            <li key={reason.message}>
              {reason.nodePool !== undefined && <b>{reason.nodePool}: </b>}
              <ReasonText message={reason.message} code={reason.code} />
              {reason.suggestion !== undefined && (
                <span class="fix">
                  try: {reason.suggestion} <Copy text={reason.suggestion} label="copy" />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {group.steps !== undefined && (
        <ol class="steps">
          {group.steps.map(({ step, time }) => (
            <li key={step} class={time === undefined ? '' : 'done'}>
              {step}
              {time !== undefined && <span class="faint"> {clockTime(time)}</span>}
            </li>
          ))}
          {usual !== undefined && <li class="faint">nodes usually join after {span(usual * 1000)}</li>}
        </ol>
      )}
      <p class="faint pods">
        {group.pods.slice(0, 3).map((pod) => (
          <a key={pod} href={hrefOf('waiting', pod)}>
            {pod}
          </a>
        ))}
        {group.count > 3 && ` and ${group.count - 3} more`}
      </p>
    </li>
  );
}

/** A link to paste into a chat: why does my pod wait, or why was it moved. */
function PodPage({ pod }: { pod: string }) {
  const { data, failed } = useDocument<PodDocument>(`pods/${pod.split('/').map(encodeURIComponent).join('/')}`, 3_000);
  return (
    <div class="page narrow">
      <p>
        <a href={hrefOf('waiting')}>← pods that wait</a>
      </p>
      <h1>{pod}</h1>
      {data === undefined && <p class="faint">{failed ?? 'Asking …'}</p>}
      {data !== undefined && (
        <>
          <p class="lead">{data.message}</p>
          {data.newNode !== undefined && (
            <p>
              {data.newNode.chosen.instanceType} in {data.newNode.chosen.zone}, {data.newNode.chosen.capacityType},{' '}
              {perHour(data.newNode.chosen.pricePerHour)}, shared by {counted(data.newNode.pods.length, 'pod')}
            </p>
          )}
          {data.reasons !== undefined && (
            <ul class="reasons">
              {data.reasons.map((reason) => (
                <li key={reason.message}>
                  {reason.nodePool !== undefined && <b>{reason.nodePool}: </b>}
                  <ReasonText message={reason.message} code={reason.code} />
                  {reason.suggestion !== undefined && <span class="fix">try: {reason.suggestion}</span>}
                </li>
              ))}
            </ul>
          )}
          {data.nodeVerdict !== undefined && (
            <p>
              its node <a href={hrefOf('map', '', { node: data.nodeVerdict.node })}>{data.nodeVerdict.node}</a>{' '}
              {data.nodeVerdict.verdict === 'keep' ? 'stays' : `would be ${data.nodeVerdict.verdict}d`}
            </p>
          )}
          <p class="actions">
            <Copy text={`kerf explain pod ${pod}`} label="copy kerf explain" />
            <Copy text={location.href} label="copy link" />
            <a class="small button" href={hrefOf('decisions', '', { object: pod })}>
              its decisions
            </a>
          </p>
        </>
      )}
    </div>
  );
}
