// What the simulated provider tells the planner about itself.
import { kwokGroup, kwokWellKnownLabels } from '../../../api/names.ts';
import type { ProviderFacts } from '../../../core/index.ts';

/** Every key that a catalogue's offerings use is well known beside the provider's own. */
export function kwokProviderFacts(offeringKeys: Iterable<string> = []): ProviderFacts {
  return {
    nodeClasses: [`KWOKNodeClass.${kwokGroup}`],
    wellKnownLabels: [...new Set([...kwokWellKnownLabels, ...offeringKeys])].sort(),
    restrictedLabelDomains: [kwokGroup],
  };
}
