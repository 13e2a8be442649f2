// Resources as columns: each resource name has a number, and an amount is a plain integer in the unit that keeps it one
// (thousandths of a cpu, whole bytes or pieces of everything else). A vector is a Float64Array over the columns known so
// far; a missing column is zero. Quantities are parsed once per distinct text.

import { formatQuantity, parseQuantity, type QuantityFormat, quantityIn, quantityOf } from '../../base/index.ts';
import type { ResourceQuantities } from '../snapshot.ts';

/** Amounts by column; the empty columns at the end may be left out. */
export type ResourceVector = Float64Array;

export class ResourceTable {
  private readonly columns = new Map<string, number>();
  private readonly parsed = new Map<string, number>();
  private readonly printed = new Map<string, string>();
  readonly names: string[] = [];
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;

  constructor() {
    this.cpu = this.column('cpu');
    this.memory = this.column('memory');
    this.pods = this.column('pods');
  }

  column(name: string): number {
    let column = this.columns.get(name);
    if (column === undefined) {
      column = this.names.length;
      this.columns.set(name, column);
      this.names.push(name);
    }
    return column;
  }

  amount(name: string, quantity: string | number): number {
    const key = `${name === 'cpu' ? 'm' : 'u'}${quantity}`;
    let amount = this.parsed.get(key);
    if (amount === undefined) {
      amount = quantityIn(unitOf(name), parseQuantity(quantity));
      this.parsed.set(key, amount);
    }
    return amount;
  }

  vector(quantities: ResourceQuantities | undefined): ResourceVector {
    const entries = Object.entries(quantities ?? {}).map(
      ([name, quantity]) => [this.column(name), this.amount(name, quantity)] as const,
    );
    const vector = new Float64Array(this.names.length);
    for (const [column, amount] of entries) vector[column] = amount;
    return vector;
  }

  format(column: number, amount: number): string {
    const name = this.names[column] as string;
    const key = `${column}:${amount}`;
    let text = this.printed.get(key);
    if (text === undefined) {
      text = formatQuantity(quantityOf(unitOf(name), amount, formatOf(name)));
      this.printed.set(key, text);
    }
    return text;
  }

  /** The amounts as quantities, by name; of those that are zero only the `listed` ones. */
  quantities(vector: ResourceVector, listed?: ReadonlySet<number>): Record<string, string> {
    const result: Record<string, string> = {};
    const columns = [...vector.keys()].filter((column) => vector[column] !== 0 || listed?.has(column));
    columns.sort((left, right) => ((this.names[left] as string) < (this.names[right] as string) ? -1 : 1));
    for (const column of columns) result[this.names[column] as string] = this.format(column, vector[column] as number);
    return result;
  }
}

export function addTo(target: ResourceVector, vector: ResourceVector): void {
  for (let column = 0; column < vector.length; column++) target[column] = at(target, column) + at(vector, column);
}

export function at(vector: ResourceVector, column: number): number {
  return vector[column] ?? 0;
}

function unitOf(name: string): 'milli' | 'units' {
  return name === 'cpu' ? 'milli' : 'units';
}

function formatOf(name: string): QuantityFormat {
  return name === 'memory' || name.endsWith('storage') || name.startsWith('hugepages-') ? 'BinarySI' : 'DecimalSI';
}
