// Decisions: lanes over time, newest first below, each with why, what else there was and what became of it.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { decisionText } from '../../../view/decision-text.ts';
import { read, send } from '../../api.ts';
import type { Decision, DecisionList } from '../../documents.ts';
import { clockTime, counted, money, perHour, span } from '../../format.ts';
import { Copy, Empty, ReasonText } from '../../parts/parts.tsx';
import { go, hrefOf, route, setQuery } from '../../route.ts';
import { info, recent } from '../../store.ts';
import { decisionWords } from '../../words.ts';
import { lanes, Timeline, windowNow } from './timeline.tsx';

/** As many as one answer holds, and as many as are shown. */
const pageSize = 200;
const mostListed = 2_000;

export function Decisions() {
  const { rest, query } = route.value;
  const object = query.get('object') ?? '';
  const what = query.get('what') ?? '';
  const older = useSignal<readonly Decision[]>([]);
  const asked = useSignal<readonly Decision[] | undefined>(undefined);
  const hasOlder = useSignal(true);
  useEffect(() => {
    asked.value = undefined;
    older.value = [];
    hasOlder.value = true;
    if (object === '') return;
    void read<DecisionList>(`decisions?object=${encodeURIComponent(object)}`).then(({ items }) => {
      asked.value = items;
    });
  }, [object]);
  const kinds = lanes.find(([name]) => name === what)?.[1];
  const known = asked.value ?? (object === '' ? [...recent.value, ...older.value] : []);
  // What stays as it is is most of what is decided, and the least of what is looked for; a link to one of these shows it.
  const isListed = ({ what: own, id }: Decision): boolean =>
    kinds?.includes(own) ?? (own !== 'hold' || what === 'everything' || object !== '' || id === rest);
  const chosen = windowNow();
  const isInWindow = ({ time, id }: Decision): boolean =>
    chosen === undefined || id === rest || (Date.parse(time) >= chosen.fromMs && Date.parse(time) <= chosen.toMs);
  const all = known.filter((each) => isListed(each) && isInWindow(each));
  const readOlder = async (): Promise<void> => {
    const last = known.at(-1)?.id;
    const query = new URLSearchParams({
      ...(object !== '' && { object }),
      ...(last !== undefined && { continue: last }),
    });
    const { items, continue: next } = await read<DecisionList>(`decisions?${query}`);
    if (asked.value !== undefined) asked.value = [...asked.value, ...items];
    else older.value = [...older.value, ...items];
    hasOlder.value = next !== undefined;
  };
  if (info.value?.capabilities.decisions === false) {
    return (
      <Empty title="This cluster keeps no records of decisions">{<p>They are kept by the controller itself.</p>}</Empty>
    );
  }
  return (
    <div class="page">
      {info.value?.mode === 'outside' && (
        <p class="faint">
          Seen from outside: read from NodeClaims and Events of the autoscaler in charge. What else it considered, and
          why, is known to its own process alone.
        </p>
      )}
      <Timeline decisions={known} selected={rest} />
      <div class="tools">
        <label>
          show
          <select value={what} onChange={(event) => setQuery({ what: event.currentTarget.value })}>
            <option value="">what was done</option>
            <option value="everything">everything, also what stays</option>
            {lanes.map(([name]) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <input
          type="search"
          placeholder="NodeClaim, NodePool or namespace/pod"
          aria-label="Object"
          value={object}
          onChange={(event) => setQuery({ object: event.currentTarget.value })}
        />
        {info.value?.decisionsKeptSince !== undefined && (
          <span class="faint">kept since {clockTime(info.value.decisionsKeptSince)}</span>
        )}
      </div>
      {all.length === 0 ? (
        <Empty title={object === '' ? 'Nothing was decided yet' : `No decision about ${object} is kept`} />
      ) : (
        <ul class="log">
          {all.slice(0, mostListed).map((decision) => (
            <Entry key={decision.id} decision={decision} isOpen={decision.id === rest} />
          ))}
        </ul>
      )}
      {hasOlder.value && known.length >= pageSize && known.length < mostListed && (
        <p class="actions">
          <button type="button" onClick={() => void readOlder()}>
            older decisions
          </button>
        </p>
      )}
    </div>
  );
}

function Entry({ decision, isOpen }: { decision: Decision; isOpen: boolean }) {
  const { id, time, what, outcome } = decision;
  return (
    <li class={isOpen ? 'open' : ''}>
      <a
        class="line"
        href={hrefOf('decisions', isOpen ? '' : id, Object.fromEntries(route.value.query))}
        aria-expanded={isOpen}
      >
        <time dateTime={time} title={time}>
          {clockTime(time)}
        </time>
        <span class={`mark ${what}`}>{decisionWords[what] ?? what}</span>
        <span class="text">{decisionText(decision)}</span>
        {outcome !== undefined && (
          <span class={`faint outcome ${outcome.state}`}>
            {outcome.state === 'pending' ? '…' : outcome.state}
            {outcome.seconds !== undefined &&
              (outcome.seconds < 1 ? ' at once' : ` after ${span(outcome.seconds * 1000)}`)}
          </span>
        )}
      </a>
      {isOpen && <Details decision={decision} />}
    </li>
  );
}

function Details({ decision }: { decision: Decision }) {
  const {
    alternatives = [],
    alternativesLeftOut = 0,
    chosen,
    pricePerHour,
    cause,
    id,
    reasons,
    pods,
    snapshot,
    tookMs,
  } = decision;
  const ledTo = recent.value.filter((each) => each.cause === id);
  return (
    <div class="details">
      <ul class="reasons">
        {reasons.map((reason) => (
          <li key={reason.message}>
            because <ReasonText message={reason.message} code={reason.code} />
          </li>
        ))}
      </ul>
      {chosen !== undefined && alternatives.length > 0 && (
        <p>
          instead of{' '}
          {alternatives
            .map(
              ({ instanceType, pricePerHour: price }) =>
                `${instanceType} ${price >= chosen.pricePerHour ? '+' : '−'}${money(Math.abs(price - chosen.pricePerHour), 4)}`,
            )
            .join(', ')}
          {alternativesLeftOut > 0 && ` and ${alternativesLeftOut} more`}
        </p>
      )}
      {pricePerHour !== undefined && (
        <p>
          the cluster: {perHour(pricePerHour.before)} → {perHour(pricePerHour.after)}
        </p>
      )}
      {pods !== undefined && pods.names.length > 0 && (
        <p class="faint">
          {counted(pods.count, 'pod')}: {pods.names.slice(0, 6).join(', ')}
          {pods.count > 6 && ` and ${pods.count - 6} more`}
        </p>
      )}
      <p class="faint">
        {id}
        {snapshot !== undefined && ` · snapshot ${snapshot}`}
        {tookMs !== undefined && ` · ${tookMs.toFixed(1)} ms`}
        {cause !== undefined && (
          <>
            {' · cause '}
            <a href={hrefOf('decisions', cause)}>{cause}</a>
          </>
        )}
        {ledTo.length > 0 && ' · led to '}
        {ledTo.slice(0, 5).map((each) => (
          <a key={each.id} href={hrefOf('decisions', each.id)}>
            {each.id}{' '}
          </a>
        ))}
      </p>
      <p class="actions">
        <Copy text={JSON.stringify(decision, undefined, 2)} label="copy JSON" />
        {snapshot !== undefined && <FromSnapshot decision={decision} />}
        {info.value?.recorded !== undefined && (
          <button
            type="button"
            class="small"
            onClick={() => void send('player', { seek: Date.parse(decision.time) }).then(() => go('map'))}
          >
            the cluster at that moment
          </button>
        )}
      </p>
    </div>
  );
}

/** What it looked at, to keep, and the decision made again from it; where it is not kept, the command that has it. */
function FromSnapshot({ decision: { id } }: { decision: Decision }) {
  const answer = useSignal('');
  if (info.value?.capabilities.snapshots !== true) {
    return <Copy text={`kerf replay FILE --at ${id}`} label="copy kerf replay" />;
  }
  const replay = async (): Promise<void> => {
    answer.value = 'making it again …';
    try {
      const { equal } = await read<{ equal: boolean }>(`decisions/${id}/replay`);
      answer.value = equal ? 'made again: equal, byte for byte' : 'made again: it differs';
    } catch (error) {
      answer.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void replay()}>
        replay
      </button>
      <a class="small button" href={`kerf/v1/decisions/${id}/snapshot`} download={`${id}.snapshot.json`}>
        download snapshot
      </a>
      <span class="faint" role="status">
        {answer.value}
      </span>
    </>
  );
}
