// Cost and waste: what is paid now, how far that is from the least the same pods could cost, and what lies between; what a
// person could free, and whose the money is.
import type { ComponentChildren } from 'preact';
import { moneyCauseTexts } from '../../view/money-text.ts';
import type { CostView, SeriesView } from '../documents.ts';
import { clockTime, counted, money, percent, perHour, whole } from '../format.ts';
import { Chart } from '../parts/chart.tsx';
import { Copy, Empty, useDocument } from '../parts/parts.tsx';
import { hrefOf } from '../route.ts';
import { totals } from '../store.ts';
import { wordingOf } from '../words.ts';

const hoursAMonth = 730;
const mostShown = 12;

export function Cost() {
  const { data, failed } = useDocument<CostView>('cost', 5_000);
  const { data: series } = useDocument<SeriesView>(
    'series?names=pricePerHour,goingPerHour,blockedPerHour&from=0',
    5_000,
  );
  const { pricePerHour, goingPerHour, blockedPerHour } = totals.value;
  if (data === undefined) {
    return (
      <div class="page">
        <dl class="figures">
          <Figure name="now" value={perHour(pricePerHour)} note={`${monthly(pricePerHour)} a month`} />
          <Figure name="going by itself" value={perHour(goingPerHour)} note="nodes to be removed or replaced" />
          <Figure name="held, at most" value={perHour(blockedPerHour)} note="node by node; together perhaps less" />
        </dl>
        <p class="faint">{failed ?? 'Working out where it goes …'}</p>
      </div>
    );
  }
  // Shares are of what the answer counted, not of what is known by now.
  const { money: found, unpriced, pricePerHour: total } = data;
  if (data.byPool.length === 0 && totals.value.nodes === 0) {
    return (
      <Empty title="Nothing is paid for yet">
        <p>
          With the first node, this page says what it costs, how far that is from the least, and who holds the rest.
        </p>
      </Empty>
    );
  }
  return (
    <div class="page">
      <dl class="figures">
        <Figure name="now" value={perHour(pricePerHour)} note={`${monthly(pricePerHour)} a month`} />
        <Figure
          name="the least these pods could cost"
          value={found === undefined ? '–' : perHour(found.boundPerHour)}
          note={found === undefined ? (data.noMoney ?? '') : `as of ${clockTime(data.moneyTime ?? '')}`}
        />
        <Figure name="going by itself" value={perHour(goingPerHour)} note="nodes to be removed or replaced" />
        <Figure name="held, at most" value={perHour(blockedPerHour)} note="node by node; together perhaps less" />
        <Figure
          name="requested by no pod"
          value={perHour(data.notRequestedPerHour)}
          note={total === 0 ? '' : `${percent(data.notRequestedPerHour / total)} of the price`}
        />
      </dl>
      {series !== undefined && series.times.length > 1 ? (
        <Chart data={series} />
      ) : (
        <p class="faint chart-empty">The chart begins with the second sample, after 15 seconds.</p>
      )}
      <p class="faint">
        Prices are the provider's list prices.
        {unpriced.count > 0 &&
          ` ${counted(unpriced.count, 'node')} without a known price ${unpriced.count === 1 ? 'is' : 'are'} not counted: ${unpriced.names.slice(0, 3).join(', ')}${unpriced.count > 3 ? ' …' : ''}`}
      </p>
      <div class="columns cost-columns">
        <Held data={data} />
        {found !== undefined && <Between money={found} time={data.moneyTime ?? ''} />}
        <Shares title="by namespace" shares={data.byNamespace} total={total}>
          <tr>
            <td class="faint">requested by no pod</td>
            <td />
            <td class="right">{perHour(data.notRequestedPerHour)}</td>
          </tr>
        </Shares>
        <Shares title="by NodePool" shares={data.byPool} total={total} link={(name) => `pool=${name}`} />
        <Shares
          title="by capacity type"
          shares={data.byCapacityType}
          total={total}
          link={(name) => `capacity=${name}`}
        />
      </div>
      <p class="actions">
        <Copy text={JSON.stringify(data, undefined, 2)} label="copy JSON" />
        <Copy text={csvOf(data)} label="copy CSV" />
      </p>
    </div>
  );
}

const monthly = (usd: number): string => `$${whole(Math.round(usd * hoursAMonth))}`;

function Figure({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="note">{note}</dd>
    </div>
  );
}

function Held({ data }: { data: CostView }) {
  return (
    <section>
      <h2>what a person could free</h2>
      {data.held.length === 0 && <p class="faint">nothing: every node that stays is needed, or goes by itself</p>}
      {data.held.length > 0 && (
        <table class="plain">
          <tbody>
            {data.held.slice(0, mostShown).map((each) => (
              <tr key={`${each.code} ${each.by}`}>
                <td class="wraps">
                  <a class="mark held" href={hrefOf('map', '', { q: `code=${each.code}` })}>
                    {wordingOf(each.code).word}
                  </a>{' '}
                  {each.by}
                  {each.suggestion !== undefined && <span class="fix">{each.suggestion}</span>}
                </td>
                <td class="right">{counted(each.nodes.length + each.nodesLeftOut, 'node')}</td>
                <td class="right">{perHour(each.savingsPerHour)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Between({
  money: { causes, costPerHour, boundPerHour, reachablePerHour },
  time,
}: {
  money: NonNullable<CostView['money']>;
  time: string;
}) {
  return (
    <section>
      <h2>between the cost and the least</h2>
      <p class="faint">
        At {clockTime(time)} it cost {perHour(costPerHour)}; Kerf by itself comes to {perHour(reachablePerHour)}; the
        bound is {perHour(boundPerHour)}.
      </p>
      <table class="plain">
        <tbody>
          {causes.map(({ cause, perHour: own, nodes }) => (
            <tr key={cause}>
              <td class="wraps">{moneyCauseTexts[cause]}</td>
              <td class="right">{nodes > 0 ? counted(nodes, 'node') : ''}</td>
              <td class="right">{perHour(own)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Shares({
  title,
  shares,
  total,
  link,
  children,
}: {
  title: string;
  shares: CostView['byPool'];
  total: number;
  link?: (name: string) => string;
  children?: ComponentChildren;
}) {
  const left = shares.slice(mostShown);
  return (
    <section>
      <h2>{title}</h2>
      <table class="plain">
        <tbody>
          {shares.slice(0, mostShown).map(({ name, pricePerHour, nodes }) => (
            <tr key={name}>
              <td class="wraps">
                {link === undefined ? name : <a href={hrefOf('map', '', { q: link(name) })}>{name}</a>}{' '}
                <span class="faint">{total === 0 ? '' : percent(pricePerHour / total)}</span>
              </td>
              <td class="right">{counted(nodes, 'node')}</td>
              <td class="right">{perHour(pricePerHour)}</td>
            </tr>
          ))}
          {children}
        </tbody>
      </table>
      {left.length > 0 && (
        <p class="faint">
          and {left.length} more, {money(left.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0))}/h
        </p>
      )}
    </section>
  );
}

function csvOf({ byNamespace, byPool, byCapacityType }: CostView): string {
  const lines = [
    ['namespace', byNamespace],
    ['NodePool', byPool],
    ['capacity type', byCapacityType],
  ] as const;
  const rows = lines.flatMap(([kind, shares]) =>
    shares.map(({ name, pricePerHour, nodes, pods }) => `${kind},${name},${pricePerHour.toFixed(6)},${nodes},${pods}`),
  );
  return ['split,name,usd_per_hour,nodes,pods', ...rows].join('\n');
}
