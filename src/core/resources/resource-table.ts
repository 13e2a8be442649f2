// Resources as columns: each resource name has a number, and an amount is a plain integer in the unit that keeps it one
// (thousandths of a cpu, whole bytes or pieces of everything else). A vector is a Float64Array over the columns known so
// far; a missing column is zero. Quantities in unusual forms are parsed once per distinct text.

import { formatAmount, parseQuantity, plainAmount, quantityIn } from '../../base/index.ts';
import type { ResourceQuantities } from '../snapshot.ts';

/** Amounts by column; the empty columns at the end may be left out. */
export type ResourceVector = Float64Array;

/** Texts of amounts that are remembered; more than any cluster has in use. */
const mostParsed = 10_000;

export class ResourceTable {
  private readonly columns = new Map<string, number>();
  private readonly parsed = new Map<string, number>();
  readonly names: string[] = [];
  private byName: readonly number[] = [];
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
    const unit = unitOf(name);
    const plain = plainAmount(unit, String(quantity));
    if (plain !== undefined) return plain;
    const key = `${unit}${quantity}`;
    let amount = this.parsed.get(key);
    if (amount === undefined) {
      amount = quantityIn(unit, parseQuantity(quantity));
      if (this.parsed.size >= mostParsed) this.parsed.clear();
      this.parsed.set(key, amount);
    }
    return amount;
  }

  vector(quantities: ResourceQuantities | undefined): ResourceVector {
    for (const name in quantities) this.column(name);
    const vector = new Float64Array(this.names.length);
    for (const name in quantities) {
      vector[this.column(name)] = this.amount(name, quantities[name] as string | number);
    }
    return vector;
  }

  format(column: number, amount: number): string {
    const name = this.names[column] as string;
    return formatAmount(unitOf(name), amount, formatOf(name));
  }

  /** The amounts as quantities, by name; of those that are zero only the `listed` ones. */
  quantities(vector: ResourceVector, listed?: ReadonlySet<number>): Record<string, string> {
    const result: Record<string, string> = {};
    for (const column of this.sorted()) {
      const amount = vector[column] ?? 0;
      if (amount !== 0 || listed?.has(column)) result[this.names[column] as string] = this.format(column, amount);
    }
    return result;
  }

  /** All columns, by name. */
  private sorted(): readonly number[] {
    if (this.byName.length !== this.names.length) {
      this.byName = [...this.names.keys()].sort((left, right) =>
        (this.names[left] as string) < (this.names[right] as string) ? -1 : 1,
      );
    }
    return this.byName;
  }
}

export function at(vector: ResourceVector, column: number): number {
  return vector[column] ?? 0;
}

function unitOf(name: string): 'milli' | 'units' {
  return name === 'cpu' ? 'milli' : 'units';
}

function formatOf(name: string): 'DecimalSI' | 'BinarySI' {
  return name === 'memory' || name.endsWith('storage') || name.startsWith('hugepages-') ? 'BinarySI' : 'DecimalSI';
}
