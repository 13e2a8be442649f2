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

const price = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 3)}/h`;

export function decisionText({ what, objects, reasons, chosen, pods }: Decision): string {
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
      return `${reason?.message ?? 'disrupt'}: ${name}${objects.length > 1 ? ` and ${objects.length - 1} more` : ''}`;
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

/** What is not known, because it is seen from outside, is left out. */
function launchText(chosen: Decision['chosen']): string {
  const { instanceType = '', zone = '', capacityType = '', pricePerHour = 0 } = chosen ?? {};
  return [instanceType, zone, capacityType, pricePerHour > 0 ? price(pricePerHour) : '']
    .filter((each) => each !== '')
    .join(' ');
}
