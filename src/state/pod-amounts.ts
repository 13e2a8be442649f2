// What pods ask for and may use, as plain numbers: cpu in thousandths, everything else in whole units.
import { RequestsOfPods, ResourceTable } from '../core/index.ts';
import type { Pod } from '../ports/index.ts';

type Amounts = ReadonlyMap<string, number>;

export class PodAmounts {
  private readonly table = new ResourceTable();
  private readonly requests = new RequestsOfPods(this.table, { forgets: true });

  requestsOf(pod: Pod): Amounts {
    // Stored pods have names, which is all the planner's view asks beyond ours.
    return this.requests.of(pod as unknown as Parameters<RequestsOfPods['of']>[0]);
  }

  /** Limits of the containers, added up, and the pod itself; a container without one adds nothing. */
  limitsOf(pod: Pod): Amounts {
    const total = new Map([['pods', 1]]);
    for (const container of pod.spec?.containers ?? []) {
      for (const [name, amount] of this.amountsOf(container.resources?.limits))
        total.set(name, (total.get(name) ?? 0) + amount);
    }
    return total;
  }

  amountsOf(quantities: Readonly<Record<string, unknown>> | undefined): Amounts {
    return new Map(
      Object.entries(quantities ?? {}).map(([name, quantity]) => [name, this.table.amount(name, String(quantity))]),
    );
  }
}
