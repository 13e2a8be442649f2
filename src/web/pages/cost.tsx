// Cost and waste: what is paid now, what goes by itself, what is held and by what.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { SeriesView } from '../documents.ts';
import { counted, perHour } from '../format.ts';
import { partsOf } from '../map/money-bar.tsx';
import { paletteNow } from '../map/palette.ts';
import { Empty, useDocument } from '../parts/parts.tsx';
import { hrefOf } from '../route.ts';
import { cluster, totals, version } from '../store.ts';

export function Cost() {
  void version.value;
  const rows = [...(cluster.shown?.nodes.values() ?? [])];
  const { data } = useDocument<SeriesView>('series?names=pricePerHour,goingPerHour,blockedPerHour&from=0', 5_000);
  const { pricePerHour, goingPerHour, blockedPerHour } = totals.value;
  const held = partsOf(rows).filter(({ savingsPerHour, class: own }) => savingsPerHour > 0 && own === 'held');
  const unpriced = rows.filter((row) => row.pricePerHour === 0).length;
  const pools = Map.groupBy(rows, ({ pool }) => pool || 'not managed');
  const kinds = Map.groupBy(rows, ({ capacityType }) => capacityType || 'unknown');
  const sum = (own: typeof rows): number => own.reduce((total, row) => total + row.pricePerHour, 0);
  return (
    <div class="page">
      <dl class="figures">
        <div>
          <dt>now</dt>
          <dd>{perHour(pricePerHour)}</dd>
        </div>
        <div>
          <dt>a month</dt>
          <dd>${Math.round(pricePerHour * 730).toLocaleString('en-US')}</dd>
        </div>
        <div>
          <dt>going by itself</dt>
          <dd>{perHour(goingPerHour)}</dd>
        </div>
        <div>
          <dt>held, at most</dt>
          <dd>{perHour(blockedPerHour)}</dd>
        </div>
      </dl>
      <p class="faint">
        List prices of the provider.
        {unpriced > 0 &&
          ` ${counted(unpriced, 'node')} without a known price ${unpriced === 1 ? 'is' : 'are'} not counted.`}{' '}
        What is held is counted node by node; freeing all of them at once can save less.
      </p>
      {data !== undefined && data.times.length > 1 ? (
        <Chart data={data} />
      ) : (
        <Empty title="The first samples are being taken" />
      )}
      <div class="columns">
        <section>
          <h2>what holds money</h2>
          {held.length === 0 && <p class="faint">nothing: every node that stays is needed</p>}
          <table class="plain">
            <tbody>
              {held.map((part) => (
                <tr key={part.word}>
                  <td>
                    <a class={`mark ${part.class}`} href={hrefOf('map', '', { q: `code=${part.codes[0] ?? ''}` })}>
                      {part.word}
                    </a>
                  </td>
                  <td class="right">{counted(part.nodes, 'node')}</td>
                  <td class="right">{perHour(part.savingsPerHour)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        {(
          [
            ['by pool', pools],
            ['by capacity', kinds],
          ] as const
        ).map(([title, groups]) => (
          <section key={title}>
            <h2>{title}</h2>
            <table class="plain">
              <tbody>
                {[...groups]
                  .sort(([, left], [, right]) => sum(right) - sum(left))
                  .map(([name, own]) => (
                    <tr key={name}>
                      <td>{name}</td>
                      <td class="right">{counted(own.length, 'node')}</td>
                      <td class="right">{perHour(sum(own))}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </section>
        ))}
      </div>
    </div>
  );
}

/** Always taken down again: charts that are not stay in memory. */
function Chart({ data }: { data: SeriesView }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const values = (): uPlot.AlignedData => [
    data.times.map((time) => time / 1000),
    ...['pricePerHour', 'goingPerHour', 'blockedPerHour'].map(
      (name) => data.series[name] ?? data.times.map(() => null),
    ),
  ];
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const palette = paletteNow();
    const line = (label: string, stroke: string, fill?: string): uPlot.Series => ({
      label,
      stroke,
      width: 1.5,
      ...(fill !== undefined && { fill }),
      value: (_, value) => (value === null || value === undefined ? '' : perHour(value)),
    });
    const axis = { stroke: palette.faint, grid: { stroke: palette.free, width: 1 }, ticks: { stroke: palette.free } };
    const options: uPlot.Options = {
      width: element.clientWidth,
      height: 220,
      series: [
        {},
        line('now', palette.workloads[0] as string, `${palette.workloads[0]}22`),
        line('going', palette.verdicts.going),
        line('held', palette.verdicts.held),
      ],
      axes: [axis, { ...axis, values: (_, all) => all.map((value) => `$${value}`) }],
      scales: { y: { range: (_, __, most) => [0, Math.max(0.01, most * 1.1)] } },
    };
    const made = new uPlot(options, values(), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 220 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => plot.current?.setData(values()), [data]);
  return <div class="chart" ref={place} />;
}
