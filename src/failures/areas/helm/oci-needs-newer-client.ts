// Charts live in an OCI registry, which Helm reads by itself from 3.8 on and which is never added as a repository.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const ociNeedsNewerClient: Failure = {
  id: 'helm/oci-needs-newer-client',
  severity: 'low',
  symptom:
    'Helm cannot read `oci://public.ecr.aws/karpenter/karpenter`: the scheme is unknown, experimental or not a chart repository.',
  cause: 'OCI registries need Helm 3.8 or newer, and are not added with `helm repo add`',
  fix: 'Upgrade Helm to 3.8 or newer and name the chart by its `oci://` address in `helm upgrade --install`; leave out `helm repo add`.',
  needs: [texts('cli')],
  signs: [
    { words: ['helm_experimental_oci'], pattern: /HELM_EXPERIMENTAL_OCI/i },
    {
      words: ['protocol handler', 'scheme "oci"', 'unsupported protocol scheme', 'non-absolute url'],
      pattern:
        /could not find protocol handler for: ?oci|scheme "oci" not supported|unsupported protocol scheme "oci"|non-absolute URLs should be in form.{0,60}oci:/i,
    },
    {
      words: ['not a valid chart repository', 'object required'],
      pattern: /looks like "oci:\/\/[^"]+" is not a valid chart repository/i,
    },
    {
      words: ['version.buildinfo{version:"v3.'],
      pattern:
        /version\.BuildInfo\{Version:"(?<version>v3\.[0-7]\.\d+)".{0,900}(?:oci:\/\/public\.ecr\.aws\/karpenter|Error: (?:failed to download|unable to|chart))/i,
      confidence: 'likely',
    },
    {
      words: ['oci://public.ecr.aws/karpenter'],
      pattern:
        /oci:\/\/public\.ecr\.aws\/karpenter.{0,900}version\.BuildInfo\{Version:"(?<version>v(?:2\.\d+|3\.[0-7])\.\d+)"/i,
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const version = caught(sightings, 'version');
    return [
      foundIn(sightings, {
        summary: `This Helm${version === undefined ? '' : ` (${version})`} cannot read charts from an OCI registry by address.`,
        fix: [
          'Install Helm 3.8 or newer: helm version',
          'helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version "$VERSION" --namespace kube-system (no helm repo add)',
        ],
      }),
    ];
  },
  explains: ['helm/chart-not-found-or-generic-error'],
};
