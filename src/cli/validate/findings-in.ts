// What `kerf validate` finds in a text, for others who show it.
import { Readable } from 'node:stream';
import { readManifests } from '../manifests/index.ts';
import { Check } from './check.ts';

export interface TextFinding {
  severity: string;
  message: string;
  line?: number;
}

export async function findingsIn(text: string): Promise<TextFinding[]> {
  const check = new Check({ ignore: new Set(), kubernetesMinor: undefined });
  const problems: TextFinding[] = [];
  for await (const item of readManifests(['-'], { stdin: Readable.from([Buffer.from(text)]) })) {
    if (item.kind === 'unreadable') problems.push({ severity: 'error', message: item.message });
    else if (item.kind === 'manifest') check.manifest(item.manifest);
  }
  const { findings } = check.finish();
  return [
    ...problems,
    ...findings.map(({ severity, message, fix, line }) => ({
      severity,
      message: fix === undefined ? message : `${message}; ${fix}`,
      line,
    })),
  ];
}
