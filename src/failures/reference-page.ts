// docs/reference/failures.md: the catalogue as a page, one anchor per id.
import { areas } from './catalogue.ts';
import type { Failure } from './failure.ts';

const titles: Readonly<Record<string, string>> = {
  startup: 'Controller start-up',
  crd: 'CRDs, API versions and webhooks',
  iam: 'IAM and credentials',
  ami: 'Images and bootstrap',
  registration: 'Registration',
  init: 'Initialisation',
  scheduling: 'Scheduling and provisioning',
  storage: 'Storage',
  net: 'Networking',
  windows: 'Windows',
  disruption: 'Disruption',
  termination: 'Termination and finalizers',
  interruption: 'Interruption',
  pricing: 'Pricing',
  helm: 'Helm and installation',
  tooling: 'Tools',
};

/** `iam-pass-role-denied`: the id as an anchor. */
export const anchorOf = (id: Failure['id']): string => id.replace('/', '-');

export function failuresPage(): string {
  const parts = [
    '# Failure modes',
    '',
    'Generated from `src/failures`. `kerf doctor` finds these in a cluster, a bundle or a text; conditions and events name them by id.',
    'Severity: critical means no new capacity at all, or harm to the whole cluster; high that one pool or class of pods gets none, or a',
    'security hole; medium slow, costly or fragile; low noise or a problem of a tool.',
  ];
  for (const [area, entries] of Object.entries(areas)) {
    parts.push('', `## ${titles[area] ?? area}`);
    for (const entry of entries) parts.push('', ...entryLines(entry));
  }
  return `${parts.join('\n')}\n`;
}

function entryLines({ id, severity, symptom, cause, fix, needs, harmless }: Failure): string[] {
  return [
    `<a id="${anchorOf(id)}"></a>`,
    '',
    `### \`${id}\``,
    '',
    `- **Severity**: ${severity}${harmless === true ? ' (harmless)' : ''}`,
    `- **Symptom**: ${sentence(symptom)}`,
    `- **Cause**: ${sentence(cause)}`,
    `- **Fix**: ${sentence(fix)}`,
    ...(needs.length === 0
      ? []
      : [`- **The check needs**: ${needs.map(({ what }) => what.replaceAll('<', '&lt;')).join('; ')}`]),
  ];
}

function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return (/[.!?]$/.test(start) ? start : `${start}.`).replaceAll(/<(?=[a-z])/g, '&lt;');
}
