// The generated files of the charts: values with their comments, the schema, what templates read from our tables, CRDs.
import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { kwokGroup } from '../../src/api/index.ts';
import { crdFiles, crdYaml } from '../../src/cli/crds/crd-files.ts';
import {
  adminRights,
  type Circumstance,
  clusterRights,
  dnsRights,
  isReading,
  leaseRights,
  type Right,
} from '../../src/server/index.ts';
import { aligned } from '../markdown-table.ts';
import { rulesYaml } from '../rights-page.ts';
import { chartValues, withoutEffect } from './own-values.ts';
import { missingElsewhere, valuesSchema } from './schema.ts';
import { awsGateNames, gateNames, settingVariables } from './setting-values.ts';
import type { ChartValue } from './value.ts';

/** Path (from the root) and content. */
export function chartFiles(): (readonly [string, string])[] {
  return [
    ['charts/kerf/Chart.yaml', chartYaml('kerf', 'Kerf, a node autoscaler for Kubernetes on AWS.')],
    [
      'charts/kerf-crd/Chart.yaml',
      chartYaml('kerf-crd', 'The CustomResourceDefinitions of Kerf, to be upgraded with it.'),
    ],
    ['charts/kerf/values.yaml', valuesYaml()],
    ['charts/kerf/values.schema.json', valuesSchema()],
    ['charts/kerf/templates/_generated.tpl', generatedTemplate()],
    ['docs/reference/helm-values.md', valuesPage()],
    ...crdFiles().flatMap(({ name, crd }): (readonly [string, string])[] => {
      const template = crdTemplate(crdYaml(crd));
      // Only those who try it with the simulated cloud need its node class.
      if (crd.spec.group === kwokGroup)
        return [[`charts/kerf-crd/templates/${name}`, `{{- if .Values.kwok.enabled }}\n${template}{{- end }}\n`]];
      return [
        [`charts/kerf/crds/${name}`, crdYaml(crd)],
        [`charts/kerf-crd/templates/${name}`, template],
      ];
    }),
  ];
}

function chartYaml(name: string, description: string): string {
  return `apiVersion: v2
name: ${name}
description: ${description}
type: application
version: ${manifest.version}
appVersion: ${manifest.version}
keywords: [autoscaling, cluster, karpenter, node, scheduler]
`;
}

/** Text of CRDs may contain what looks like a template. Uninstalling keeps them: deleting one deletes its objects. */
function crdTemplate(yaml: string): string {
  const escaped = yaml.replaceAll('{{', '{{ "{{" }}');
  const [head = '', rest = ''] = escaped.split(/^metadata:\n/m);
  const own = /^ {2}annotations:\n/m;
  const meta = `metadata:
  labels:
    app.kubernetes.io/managed-by: {{ .Release.Service }}
    {{- with .Values.additionalLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    helm.sh/resource-policy: keep
    {{- with .Values.additionalAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
`;
  return `${head}${meta}${rest.replace(own, '')}`;
}

function valuesYaml(): string {
  const lines = [
    '# Values of the chart, generated from the tables in scripts/chart and from the settings of the controller. A values file',
    "# written for Karpenter's chart works unchanged; docs/reference/helm-values.md says what differs.",
  ];
  let open: readonly string[] = [];
  for (const { path, fallback, meaning } of inTree(chartValues)) {
    const parents = path.slice(0, -1);
    const shared = commonLength(open, parents);
    for (const [at, name] of parents.entries()) if (at >= shared) lines.push(`${'  '.repeat(at)}${name}:`);
    open = parents;
    const indent = '  '.repeat(parents.length);
    lines.push(...wrapped(meaning, 118 - indent.length).map((line) => `${indent}# ${line}`));
    const text = stringify(
      { [path.at(-1) ?? '']: fallback },
      { lineWidth: 0, nullStr: '', defaultStringType: 'PLAIN' },
    );
    lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => `${indent}${line.trimEnd()}`),
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Values that share a parent stand together, parents in the order in which they first come. */
function inTree(values: readonly ChartValue[], depth = 0): ChartValue[] {
  const groups = new Map<string, ChartValue[]>();
  for (const value of values) {
    const name = value.path[depth] ?? '';
    groups.set(name, [...(groups.get(name) ?? []), value]);
  }
  return [...groups.values()].flatMap((group) =>
    group.length === 1 && group[0]?.path.length === depth + 1 ? group : inTree(group, depth + 1),
  );
}

function commonLength(left: readonly string[], right: readonly string[]): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

const conditions: Record<Circumstance, string> = {
  aws: 'eq .Values.provider "aws"',
  kwok: 'eq .Values.provider "kwok"',
  fakeKubelets: 'and (eq .Values.provider "kwok") .Values.kwok.fakeKubelets',
  nodeOverlay: 'include "kerf.gate" (list . "nodeOverlay" "NodeOverlay")',
  capacityBuffer: 'include "kerf.gate" (list . "capacityBuffer" "CapacityBuffer")',
  devices: 'include "kerf.plansDevices" .',
  defaultSpread: 'include "kerf.hasSchedulerConfig" .',
  deletionCosts: 'include "kerf.gate" (list . "podDeletionCostManagement" "PodDeletionCostManagement")',
  dashboard: 'include "kerf.hasDashboard" .',
};

/** Which rights exist when. */
function rightsTemplate(rights: readonly Right[], { writes }: { writes: string | undefined }): string {
  return rights
    .map((right) => {
      const conditionsOf = [
        ...(right.when === undefined ? [] : [`(${conditions[right.when]})`]),
        ...(isReading(right) || writes === undefined ? [] : [`(${writes})`]),
      ];
      const rule = rulesYaml([right], '');
      if (conditionsOf.length === 0) return rule;
      const condition = conditionsOf.length === 1 ? conditionsOf[0] : `and ${conditionsOf.join(' ')}`;
      return `{{- if ${condition} }}\n${rule}\n{{- end }}`;
    })
    .join('\n');
}

/** A shadow reads, and gets no right to write. */
const notInShadow = 'not .Values.shadow.enabled';

function generatedTemplate(): string {
  const define = (name: string, body: string): string => `{{- define "${name}" -}}\n${body}\n{{- end -}}\n`;
  const own: readonly (Circumstance | undefined)[] = ['aws', 'kwok'];
  const isCore = ({ group, when }: Right): boolean => !own.includes(when) || group === '';
  return [
    '{{- /* Generated from the tables of settings and rights: run `npm run generate`. */ -}}\n',
    define('kerf.fallbacks', stringify(fallbacks(), { lineWidth: 0, defaultStringType: 'PLAIN' }).trimEnd()),
    define('kerf.settingVariables', settingVariables.map(({ key, env }) => `${key}: ${env}`).join('\n')),
    define('kerf.gateNames', gateNames.map(({ key, gate }) => `${key}: ${gate}`).join('\n')),
    define('kerf.awsGateNames', awsGateNames.map(({ key, gate }) => `${key}: ${gate}`).join('\n')),
    define('kerf.coreRights', rightsTemplate(clusterRights.filter(isCore), { writes: notInShadow })),
    define(
      'kerf.providerRights',
      rightsTemplate(
        clusterRights.filter((right) => !isCore(right)),
        { writes: notInShadow },
      ),
    ),
    define('kerf.leaseRights', rulesYaml(leaseRights('{{ include "kerf.leaseName" . | quote }}'), '')),
    define('kerf.dnsRights', rulesYaml(dnsRights, '')),
    define('kerf.adminRights', rightsTemplate(adminRights, { writes: undefined })),
    define('kerf.valuesWithoutEffect', withoutEffect.map(({ path, note }) => `${path.join('.')}: ${note}`).join('\n')),
  ].join('\n');
}

/** Of the values that a chart of Karpenter may not have. */
function fallbacks(): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const { path, fallback } of chartValues.filter(({ path: [first = ''] }) => missingElsewhere.includes(first))) {
    const [first = '', second] = path;
    all[first] = second === undefined ? fallback : { ...(all[first] as object | undefined), [second]: fallback };
  }
  return all;
}

const shown = (fallback: unknown): string => {
  if (fallback === '') return 'empty';
  if (fallback === null) return 'not set';
  return `\`${JSON.stringify(fallback).replaceAll('|', '\\|')}\``;
};

function valuesPage(): string {
  const rows = chartValues.map(({ path, fallback, meaning, isOurs }) => [
    `\`${path.join('.')}\``,
    shown(fallback),
    `${isOurs === true ? '(Kerf) ' : ''}${meaning}`,
  ]);
  return `# Values of the chart \`kerf\`

Generated from the tables that \`values.yaml\` and \`values.schema.json\` are made from. Names, meanings and defaults are those of
Karpenter's chart: a values file written for it works unchanged. The schema refuses a name that it does not know, and says
which one was meant.

## What differs on purpose

${aligned([
  ['what', "Karpenter's chart", 'this chart'],
  [
    '`false`, `0` and empty text under `settings`',
    'left out, so the default counts',
    'passed on as they are; `null` leaves out',
  ],
  [
    '`controller.image`',
    "Karpenter's image",
    "Kerf's; a repository with `karpenter` and without `kerf` in its name counts as not set, with its tag and digest",
  ],
  [
    '`replicas` where only one node could run the pods',
    'the second pod stays Pending',
    'one replica; says so after the install (`adaptReplicas`)',
  ],
  [
    'token of the service account',
    'in every container',
    'in the container `controller` alone (`automountServiceAccountToken`)',
  ],
  ['arguments of the container', 'none', '`controller`, and those of a shadow or a simulated cloud'],
  ['`enableServiceLinks`', 'not set, so true', 'false: variables about Services are not settings'],
  ['rights', 'all, always', 'what the provider, the gates and the settings need'],
  [
    'the reference to the namespace in `SYSTEM_NAMESPACE`',
    'without `apiVersion`',
    'with it, as the API server stores it: server-side apply after Helm sees no conflict',
  ],
  [
    'variables in `controller.env` that the chart also sets',
    'twice in the pod, the last one counts',
    'once, that of `controller.env`',
  ],
  [
    'unknown values',
    'ignored',
    'refused; those of older charts are accepted and named after the install, `enabled` and names that begin with `x-`, `_` or `.` without a word',
  ],
  [
    '`true` and `false` in quotes',
    'both mean true',
    'mean what they say: `hostNetwork`, `serviceAccount.create`, `serviceMonitor.enabled`',
  ],
  ['`settings.enableDRA` beside `ignoreDRARequests` or its gates', 'refused', '`enableDRA` counts'],
  ['seccomp profile of the container', 'only that of the pod', "the pod's; RuntimeDefault if the pod has none"],
])}
## All values

${aligned([['value', 'default', 'meaning'], ...rows])}`;
}
