// The entries of pricing/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { apiUnreachable } from './api-unreachable.ts';
import { staleBuiltInPrices } from './stale-built-in-prices.ts';

export const pricing: readonly Failure[] = [apiUnreachable, staleBuiltInPrices];
