// Where the money stays, and why: dollars by what keeps each node. A click filters the map.
import type { NodeRow } from '../../view/wire.ts';
import { money, percent, perHour } from '../format.ts';
import { route, setQuery } from '../route.ts';
import { classes, glyphs, type VerdictClass, wordingFor } from '../words.ts';

interface Part {
  word: string;
  class: VerdictClass;
  codes: string[];
  pricePerHour: number;
  savingsPerHour: number;
  nodes: number;
}

export function partsOf(rows: Iterable<NodeRow>): Part[] {
  const parts = new Map<string, Part>();
  for (const row of rows) {
    const { word, class: own } = wordingFor(row);
    const part = parts.get(word) ?? { word, class: own, codes: [], pricePerHour: 0, savingsPerHour: 0, nodes: 0 };
    if (!part.codes.includes(row.code)) part.codes.push(row.code);
    part.pricePerHour += row.pricePerHour;
    part.savingsPerHour += row.savingsPerHour;
    part.nodes += 1;
    parts.set(word, part);
  }
  return [...parts.values()].sort(
    (left, right) =>
      classes.indexOf(left.class) - classes.indexOf(right.class) || right.pricePerHour - left.pricePerHour,
  );
}

export function MoneyBar({ rows }: { rows: readonly NodeRow[] }) {
  const parts = partsOf(rows);
  const total = parts.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const filter = route.value.query.get('q') ?? '';
  if (rows.length === 0) return null;
  return (
    <div class="money" role="group" aria-label="Dollars by what keeps each node">
      <span class="caption">Where the money stays</span>
      <div class="bar">
        {parts.map((part) => {
          const share = total === 0 ? part.nodes / rows.length : part.pricePerHour / total;
          const wanted = `word=${part.word.replaceAll(' ', '-')}`;
          const isOn = filter === wanted;
          const title = `${part.word}: ${part.nodes} nodes, ${perHour(part.pricePerHour)}${part.savingsPerHour > 0 ? `, ${money(part.savingsPerHour)}/h could be saved` : ''}`;
          return (
            <button
              type="button"
              key={part.word}
              class={`part ${part.class}${isOn ? ' on' : ''}`}
              style={{ flexGrow: String(Math.max(share, 0.012)) }}
              title={title}
              aria-pressed={isOn}
              onClick={() => setQuery({ q: isOn ? undefined : wanted })}
            >
              <span class="words">
                <span>{glyphs[part.class]}</span>
                <b>{percent(share)}</b>
                <span class="word">{part.word}</span>
              </span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
