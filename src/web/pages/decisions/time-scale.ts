// Time along a line, with stretches in which nothing happened folded to a mark: what happened gets the room.

export interface Fold {
  fromMs: number;
  toMs: number;
  x: number;
  width: number;
}

export interface TimeScale {
  x(timeMs: number): number;
  timeAt(x: number): number;
  folds: readonly Fold[];
}

/** A stretch this share of the whole long, in which nothing happened, is idle. */
const idleShare = 0.15;
/** What is left of it. */
const foldShare = 0.02;
/** Shorter ones are read at a glance. */
const leastIdleMs = 60_000;

interface Piece {
  fromMs: number;
  toMs: number;
  x: number;
  width: number;
  isIdle: boolean;
}

export function timeScale(times: readonly number[], fromMs: number, toMs: number, width: number): TimeScale {
  const wholeMs = Math.max(1, toMs - fromMs);
  const stops = [fromMs, ...times.filter((time) => time > fromMs && time < toMs).sort((a, b) => a - b), toMs];
  const pieces: Piece[] = [];
  let room = 0;
  for (let at = 1; at < stops.length; at++) {
    const [from = 0, to = 0] = stops.slice(at - 1);
    const isIdle = to - from >= Math.max(leastIdleMs, wholeMs * idleShare) && stops.length > 2;
    const own = isIdle ? wholeMs * foldShare : to - from;
    pieces.push({ fromMs: from, toMs: to, x: room, width: own, isIdle });
    room += own;
  }
  const factor = width / Math.max(1, room);
  for (const piece of pieces) {
    piece.x *= factor;
    piece.width *= factor;
  }
  return {
    x(timeMs) {
      if (timeMs <= fromMs) return 0;
      const piece = pieces.findLast((each) => each.fromMs <= timeMs);
      if (piece === undefined || timeMs >= toMs) return width;
      const share = (timeMs - piece.fromMs) / Math.max(1, piece.toMs - piece.fromMs);
      return piece.x + share * piece.width;
    },
    timeAt(x) {
      const piece = pieces.findLast((each) => each.x <= Math.max(0, x));
      if (piece === undefined || piece.width === 0) return fromMs;
      const share = Math.min(1, Math.max(0, x - piece.x) / piece.width);
      return piece.fromMs + share * (piece.toMs - piece.fromMs);
    },
    folds: pieces.filter(({ isIdle }) => isIdle),
  };
}
