// Why a pod has no place, for people: pool by pool what is in the way and what helps; where only several changes together
// help, that is said. The lists of requirements that messages end with are for searching and stay in -o json.
import type { Reason } from '../../core/index.ts';
import { type Paint, wrapText } from '../output/index.ts';

export interface ReasonStyle {
  paint: Paint;
  columns: number;
  /** Spaces before each line. */
  indent: number;
  /** Each line ends with its code. */
  withCodes?: boolean;
}

export function reasonLines(reasons: readonly Reason[], style: ReasonStyle): string[] {
  const lines: string[] = [];
  for (const own of byPool(reasons)) {
    const steps = own.filter(({ suggestion }) => suggestion !== undefined).length;
    for (const reason of own) {
      const where = reason.nodePool === undefined ? '' : `pool ${reason.nodePool}: `;
      const code = style.withCodes === true ? ` (${reason.code})` : '';
      lines.push(...indented(`${where}${shortMessage(reason)}${code}`, style.indent, style.columns));
      if (steps === 1 && reason.suggestion !== undefined) lines.push(...tries(`try: ${reason.suggestion}`, style));
    }
    if (steps < 2) continue;
    const together = own.flatMap(({ suggestion }) => suggestion ?? []).map((text, at) => `(${at + 1}) ${text}`);
    lines.push(...tries(`try, all of it together: ${together.join('; ')}`, style));
  }
  return lines;
}

function tries(text: string, { paint, columns, indent }: ReasonStyle): string[] {
  return indented(text, indent + 2, columns).map((line) => paint.dim(line));
}

function byPool(reasons: readonly Reason[]): Reason[][] {
  const pools = new Map<string | undefined, Reason[]>();
  for (const reason of reasons) {
    const own = pools.get(reason.nodePool);
    if (own === undefined) pools.set(reason.nodePool, [reason]);
    else own.push(reason);
  }
  return [...pools.values()];
}

function shortMessage({ message }: Reason): string {
  const [short = message, rest] = message.split(/, requirements=/);
  const asked = /resources=(?:min=)?(\{.*?\})/.exec(rest ?? '')?.[1];
  if (asked === undefined) return short;
  const { pods: _, ...resources } = JSON.parse(asked) as Record<string, string>;
  const list = Object.entries(resources).map(([name, amount]) => `${name} ${amount}`);
  return list.length === 0 ? short : `${short} (with daemons: ${list.join(', ')})`;
}

function indented(text: string, by: number, columns: number): string[] {
  return wrapText(text, Math.max(40, columns - by)).map((line) => ' '.repeat(by) + line);
}
