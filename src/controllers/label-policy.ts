// Which labels users may write, with what the provider adds to the rules.
import { type LabelPolicy, labelPolicy } from '../api/index.ts';
import type { ProviderFacts } from '../core/index.ts';

export function providerLabelPolicy(facts: ProviderFacts): LabelPolicy {
  return labelPolicy({
    wellKnown: facts.wellKnownLabels,
    restrictedDomains: facts.restrictedLabelDomains ?? [],
    normalized: facts.normalizedLabels ?? {},
  });
}
