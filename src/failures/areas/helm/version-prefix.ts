// Tags from 0.17.0 to 0.34.x begin with a v, tags from 0.35.0 on do not; the other way round there is nothing.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

/** Versions written the wrong way for their age. */
const wrong = String.raw`(?<version>0\.(?:1[7-9]|2\d|3[0-4])\.\d+(?:-rc\.\d+)?|v(?:0\.(?:3[5-9]|[4-9]\d)|[1-9]\d*\.\d+)\.\d+(?:-rc\.\d+)?)`;
const absent = String.raw`(?:not found|manifest unknown|MANIFEST_UNKNOWN|does not exist|404|NotFound)`;

export const versionPrefix: Failure = {
  id: 'helm/version-prefix',
  severity: 'low',
  symptom: '`Error: public.ecr.aws/karpenter/karpenter:0.34.0: not found`, although that release exists.',
  cause: 'Tags from 0.17.0 to 0.34.x begin with a `v`; from 0.35.0 on they do not',
  fix: 'Write `--version v0.34.0` for releases up to 0.34.x, and `--version 0.35.0` without the `v` from then on.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['karpenter/karpenter', 'karpenter/controller'],
      pattern: new RegExp(
        `karpenter/(?:karpenter(?:-crd)?|controller)(?::|/manifests/)${wrong}(?![\\w.]).{0,160}${absent}`,
        'i',
      ),
    },
    {
      words: ['--version'],
      pattern: new RegExp(
        `karpenter/karpenter(?:-crd)?\\b.{0,160}--version[= ]"?${wrong}(?![\\w.]).{0,400}${absent}`,
        'i',
      ),
    },
    {
      words: ['at version'],
      pattern: new RegExp(`failed to download.{0,60}karpenter/karpenter(?:-crd)?"? at version "${wrong}"`, 'i'),
      confidence: 'likely',
    },
    {
      words: ['chart "karpenter'],
      pattern: new RegExp(`chart "karpenter(?:-crd)?" version "${wrong}" not found in oci:`, 'i'),
    },
  ],
  fromText(sightings) {
    const version = caught(sightings, 'version') ?? '';
    const right = version.startsWith('v') ? version.slice(1) : `v${version}`;
    return [
      foundIn(sightings, {
        summary: `There is no tag ${version}: the release is tagged ${right}.`,
        fix: [
          `helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version ${right} --namespace kube-system`,
        ],
      }),
    ];
  },
  explains: ['helm/chart-not-found-or-generic-error'],
};
