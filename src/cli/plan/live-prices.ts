// What AWS asks for its machines right now: the price list and the spot prices, for plans that ask for them.
import { createAwsClients, livePricing } from '../../aws/index.ts';
import { KerfError, messageOf } from '../../base/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { prometheusMetrics, silentLog } from '../../telemetry/index.ts';
import { version } from '../version.ts';
import type { LivePrices } from './provider.ts';

/** The price list has a few hundred pages in the worst case; a call that hangs must not hold the plan up. */
const callTimeoutMs = 60_000;

export async function readLivePrices(env: Record<string, string | undefined>, region: string): Promise<LivePrices> {
  const clock = new RealClock();
  const clients = await createAwsClients({ clock, metrics: prometheusMetrics(), env, version, region, callTimeoutMs });
  try {
    return await livePricing({ ...clients, clock, log: silentLog });
  } catch (error) {
    throw new KerfError(
      'NoLivePrices',
      `cannot read the prices of ${region} from AWS: ${messageOf(error)}; leave out --live-prices to use the built-in ones`,
      { cause: error },
    );
  } finally {
    clients.destroy();
  }
}
