// One decision as a person reads it: what, why, instead of what, and what came of it.
import type { Decision } from '../../ports/index.ts';
import { decisionText } from '../../view/index.ts';

export function decisionPage(decision: Decision): string {
  const { id, time, reasons, chosen, alternatives = [], alternativesLeftOut = 0, pods, outcome, cause } = decision;
  const price = (dollars: number): string => `$${dollars.toFixed(4)}/h`;
  const lines = [
    `${id}  ${time}  ${decisionText(decision)}`,
    ...reasons.map(({ code, message }) => `  because ${message} (${code})`),
    ...(chosen === undefined
      ? []
      : [`  chosen  ${chosen.instanceType} ${chosen.zone} ${chosen.capacityType} ${price(chosen.pricePerHour)}`]),
    ...alternatives.map((each) => {
      const more = chosen === undefined ? 0 : each.pricePerHour - chosen.pricePerHour;
      return `  instead of ${each.instanceType} ${price(each.pricePerHour)} (${more < 0 ? '−' : '+'}$${Math.abs(more).toFixed(4)})`;
    }),
    ...(alternativesLeftOut > 0 ? [`  and ${alternativesLeftOut} more`] : []),
    ...(pods === undefined ? [] : [`  pods ${pods.count}: ${pods.names.slice(0, 10).join(', ')}`]),
    ...(cause === undefined ? [] : [`  cause ${cause}`]),
    ...(outcome === undefined ? [] : [`  outcome ${outcome.state}${seconds(outcome.seconds)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

const seconds = (of: number | undefined): string => (of === undefined ? '' : ` after ${Math.round(of)} s`);
