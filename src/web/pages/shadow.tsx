// What a shadow would have done beside the autoscaler in charge: sums side by side, then the newest launches and moves. The same
// data as `kerf shadow report`.
import type { ShadowReport } from '../documents.ts';
import { clockTime, counted, perHour, whole } from '../format.ts';
import { Empty, useDocument } from '../parts/parts.tsx';
import { hrefOf } from '../route.ts';

/** As many as a person reads; `kerf shadow report -o json` has all that are kept. */
const mostRows = 50;

export function Shadow() {
  const { data, failed } = useDocument<ShadowReport>('shadow', 5_000);
  if (data === undefined) {
    return (
      <Empty title={failed === undefined ? 'Asking …' : 'This is not a shadow'}>
        <p>
          <code>kerf controller --shadow</code> plans beside another autoscaler and changes nothing.
        </p>
      </Empty>
    );
  }
  const { totals, verdicts } = data;
  const difference = totals.wouldLaunchPerHour - totals.launchedPerHour;
  return (
    <div class="page">
      <h1>What Kerf would have done</h1>
      <p class="faint">
        Since {data.since}, beside the autoscaler in charge. Nothing was changed.{' '}
        {totals.launched > 0 &&
          `For the pods that waited, Kerf's nodes would have cost ${perHour(Math.abs(difference))} ${difference <= 0 ? 'less' : 'more'}.`}
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th />
            <th class="right">in charge</th>
            <th class="right">Kerf</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>nodes launched</td>
            <td class="right">{whole(totals.launched)}</td>
            <td class="right">{whole(totals.wouldLaunch)}</td>
          </tr>
          <tr>
            <td>their price</td>
            <td class="right">{perHour(totals.launchedPerHour)}</td>
            <td class="right">{perHour(totals.wouldLaunchPerHour)}</td>
          </tr>
          <tr>
            <td>nodes removed</td>
            <td class="right">{whole(totals.removed)}</td>
            <td class="right">{`${whole(totals.wouldRemove)}, and ${whole(totals.wouldReplace)} replaced`}</td>
          </tr>
        </tbody>
      </table>
      <p>
        Of {counted(data.nodes, 'node')}, Kerf would now remove {whole(verdicts.remove)}, replace{' '}
        {whole(verdicts.replace)} and keep {whole(verdicts.keep)}. Its next command would save{' '}
        {perHour(data.savingsPerHour)}.
      </p>
      <div class="columns">
        <section>
          <h2>launches</h2>
          {data.launches.length === 0 && <p class="faint">none yet</p>}
          <table class="plain">
            <tbody>
              {newest(data.launches).map(({ at, nodePool, instanceType, capacityType, zone, pricePerHour, pods }) => (
                <tr key={`${at} ${pods[0] ?? ''}`}>
                  <td title={at}>{clockTime(Date.parse(at))}</td>
                  <td>{nodePool}</td>
                  <td>{`${instanceType} ${capacityType} ${zone}`}</td>
                  <td class="right">{perHour(pricePerHour)}</td>
                  <td class="right">{counted(pods.length, 'pod')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section>
          <h2>removals and replacements</h2>
          {data.moves.length === 0 && <p class="faint">none yet</p>}
          <table class="plain">
            <tbody>
              {newest(data.moves).map(({ at, reason, decision, nodes, replacements, savingsPerHour }) => (
                <tr key={`${at} ${nodes[0] ?? ''}`}>
                  <td title={at}>{clockTime(Date.parse(at))}</td>
                  <td>{`${decision} (${reason})`}</td>
                  <td>
                    {nodes.map((name) => (
                      <div key={name}>
                        <a href={hrefOf('map', '', { node: name })}>{name}</a>
                      </div>
                    ))}
                  </td>
                  <td>{replacements.length === 0 ? '' : `by ${replacements.join(', ')}`}</td>
                  <td class="right">{perHour(savingsPerHour)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </div>
  );
}

const newest = <T,>(items: readonly T[]): T[] => items.slice(-mostRows).reverse();
