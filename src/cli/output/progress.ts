// One live line on standard error for work that takes a while. It shows only on a terminal that can wipe a line, only after the work has
// lasted a moment, redraws at most ten times a second, and wipes itself when done, so that logs and pipes never see it.
import type { Terminal } from '../command.ts';
import { textWidth } from './text-width.ts';

const quietMs = 400;
const redrawMs = 100;

export interface Progress {
  /** Shows this text in place of the last; cheap to call often. */
  show(text: () => string): void;
  /** Wipes the line; further calls of `show` draw again. */
  clear(): void;
}

export function progressLine(
  terminal: Pick<Terminal, 'err' | 'errIsTerminal' | 'columns' | 'control'> & { env?: Terminal['env'] },
  nowMs: () => number = () => performance.now(),
): Progress {
  if (!terminal.errIsTerminal || terminal.env?.['TERM'] === 'dumb')
    return { show: () => undefined, clear: () => undefined };
  const draw = (control: string, line = ''): void => {
    if (terminal.control === undefined) return terminal.err(control + line);
    terminal.control(control, 'err');
    terminal.err(line);
  };
  const startedMs = nowMs();
  let drawnMs = Number.NEGATIVE_INFINITY;
  let drawn = false;
  return {
    show(text) {
      const now = nowMs();
      if (now - startedMs < quietMs || now - drawnMs < redrawMs) return;
      drawnMs = now;
      drawn = true;
      draw('\r\u001b[K', fitLine(text(), terminal.columns - 1));
    },
    clear() {
      if (!drawn) return;
      drawn = false;
      drawnMs = Number.NEGATIVE_INFINITY;
      draw('\r\u001b[K');
    },
  };
}

function fitLine(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  return `${text.slice(0, Math.max(0, width - 1))}…`;
}
