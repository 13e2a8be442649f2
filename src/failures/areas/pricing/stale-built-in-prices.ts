// Without the price list a controller decides by the table it was built with, which only an upgrade renews.
import { ageMs } from '../../evidence.ts';
import { controllerContainer, controllerDeployments, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

/** New families come every few months; prices of old ones rarely change. */
const staleMs = 90 * 24 * 3_600_000;

export const staleBuiltInPrices: Failure = {
  id: 'pricing/stale-built-in-prices',
  severity: 'medium',
  symptom: 'Dearer types are chosen although cheaper ones exist; new families are missing.',
  cause: 'Isolated installations decide by the price table of their release, which changes only with upgrades',
  fix: 'Upgrade the controller, or set prices with NodeOverlays.',
  needs: [kinds('Deployment')],
  signs: [
    {
      words: ['using existing pricing data from'],
      pattern: /using existing pricing data from (?<date>\d{4}-\d{2}-\d{2}T[\d:.]+Z)/i,
      confidence: 'likely',
    },
  ],
  fromText(sightings, evidence) {
    const old = sightings.filter(({ groups, timeMs }) => {
      const since =
        timeMs === undefined ? ageMs(evidence, groups['date'] ?? '') : timeMs - Date.parse(groups['date'] ?? '');
      return since !== undefined && since > staleMs;
    });
    if (old.length === 0) return [];
    return [
      foundIn(old, {
        summary: `Prices are from ${old[0]?.groups['date']?.slice(0, 10)}: types that came or changed since are judged wrongly or not at all.`,
        fix: [
          'Upgrade the controller to the newest release of its line.',
          'Set prices that matter with NodeOverlay objects (spec.price).',
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    return controllerDeployments(evidence).flatMap((deployment) => {
      if (settingOf(deployment, 'ISOLATED_VPC')?.toLowerCase() !== 'true') return [];
      const image = textAt(controllerContainer(deployment), 'image');
      const release = /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1] ?? 'its release';
      return [
        {
          confidence: 'possible' as const,
          summary: `The controller is isolated: it decides by the prices that were built into ${release}.`,
          objects: [refOf(deployment)],
          evidence: [fieldItem(deployment, 'ISOLATED_VPC', 'true'), fieldItem(deployment, 'image', image)],
          fix: ['Upgrade with every release, or set prices that matter with NodeOverlay objects (spec.price).'],
        },
      ];
    });
  },
};
