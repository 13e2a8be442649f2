// A decision in one sentence, the same in the page and in a terminal. Without imports of its own beside types.
import type { Decision } from '../ports/index.ts';

/** The controller's own texts are those of its events, which its users search for; a person reads these instead. */
const plainTexts: Readonly<Record<string, string>> = {
  NeedsMoreNodes: 'its pods would need several new nodes, so nothing is saved',
  NotCheaper: 'no cheaper node holds its pods',
  NotQuiet: 'pods came or went lately',
  Nominated: 'pods are about to come to it',
  NoNode: 'its node has not joined yet',
  AlreadyDisrupting: 'it is on its way out',
  SpotToSpotDisabled: 'spot nodes are not replaced by spot nodes (feature gate SpotToSpotConsolidation)',
};

/** Why nodes go, by the reason of the command. */
const whyTheyGo: Readonly<Record<string, string>> = {
  Empty: 'only daemons run there',
  Underutilized: 'the pods have a cheaper place',
  Drifted: 'the NodePool or node class asks for something else by now',
  Unhealthy: 'not healthy for too long',
};

const price = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 3)}/h`;

export function decisionText(decision: Decision): string {
  const { what, objects, reasons, chosen, pods } = decision;
  const [first] = objects;
  const name =
    first === undefined ? '' : first.namespace === undefined ? first.name : `${first.namespace}/${first.name}`;
  const [reason] = reasons;
  const count = pods?.count ?? 1;
  const forPods = `${count} ${count === 1 ? 'pod' : 'pods'}`;
  switch (what) {
    case 'launch':
      return `launch ${name}: ${launchText(chosen)}${pods === undefined ? '' : `, for ${forPods}`}`;
    case 'disrupt':
      return disruptText(decision, name);
    case 'refuse':
      return `no place for ${forPods}: ${name}`;
    case 'hold':
      return `${name}${objects.length > 1 ? ` and ${objects.length - 1} more stay` : ' stays'}: ${plainTexts[reason?.code ?? ''] ?? reason?.message ?? ''}`;
    case 'config':
      return reason?.message ?? 'a change';
    default:
      return `${what} ${name}: ${reason?.message ?? ''}`;
  }
}

/** Which nodes go, by what they are replaced, why, and what that is worth; what is seen from outside has no figures. */
function disruptText({ objects, reasons: [reason], chosen }: Decision, name: string): string {
  const { nodes, replacements, savingsPerHour } = reason?.params ?? {};
  const leaving = typeof nodes === 'number' ? nodes : objects.length;
  const names = `${name}${leaving > 1 ? ` and ${leaving - 1} more` : ''}`;
  if (typeof savingsPerHour !== 'number') return `${reason?.message ?? 'disrupt'}: ${names}`;
  const others = typeof replacements === 'number' ? replacements : 0;
  const coming = others > 1 ? `${others} nodes` : others === 1 ? launchText(chosen) || 'another node' : '';
  const worth =
    Math.abs(savingsPerHour) < 0.0005
      ? ''
      : `, ${savingsPerHour > 0 ? 'saves' : 'costs'} ${price(Math.abs(savingsPerHour))}`;
  const why = whyTheyGo[reason?.code ?? ''] ?? reason?.message ?? '';
  return `${coming === '' ? `remove ${names}` : `replace ${names} by ${coming}`}: ${why}${worth}`;
}

/** What is not known, because it is seen from outside, is left out. */
function launchText(chosen: Decision['chosen']): string {
  const { instanceType = '', zone = '', capacityType = '', pricePerHour = 0 } = chosen ?? {};
  return [instanceType, zone, capacityType, pricePerHour > 0 ? price(pricePerHour) : '']
    .filter((each) => each !== '')
    .join(' ');
}
