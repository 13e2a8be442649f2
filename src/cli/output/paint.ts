// Colour for terminals. A `Paint` is chosen once per run: the real one on a terminal, one that leaves text alone when
// output is piped, when NO_COLOR is set, or on a dumb terminal. FORCE_COLOR=1 turns it on for pipes (CI logs).
import pc from 'picocolors';
import type { Terminal } from '../command.ts';

type Brush = (text: string) => string;

export interface Paint {
  bold: Brush;
  dim: Brush;
  red: Brush;
  yellow: Brush;
  green: Brush;
  blue: Brush;
  cyan: Brush;
}

export function paintFor(terminal: Pick<Terminal, 'isTerminal' | 'env'>): Paint {
  const { bold, dim, red, yellow, green, blue, cyan } = pc.createColors(wantsColour(terminal));
  return { bold, dim, red, yellow, green, blue, cyan };
}

function wantsColour({ isTerminal, env }: Pick<Terminal, 'isTerminal' | 'env'>): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}
