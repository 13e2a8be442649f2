// The deletion cost of a pod as its annotation carries it; undefined where there is none.
import { annotation } from '../../api/index.ts';

export const textOf = (rank: number | undefined): string | undefined => rank?.toString();

export const costOn = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): string | undefined =>
  metadata.annotations?.[annotation.podDeletionCost];
