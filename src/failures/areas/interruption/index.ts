// The entries of interruption/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { eventsNotDelivered } from './events-not-delivered.ts';
import { nthRelaunchLoop } from './nth-relaunch-loop.ts';
import { queueNotConfigured } from './queue-not-configured.ts';
import { rebalanceNotActedOn } from './rebalance-not-acted-on.ts';

export const interruption: readonly Failure[] = [
  queueNotConfigured,
  eventsNotDelivered,
  nthRelaunchLoop,
  rebalanceNotActedOn,
];
