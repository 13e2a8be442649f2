// What a folder holds beside manifests: charts, patches, files of other tools. A file that was named outright was meant, so
// there a document that is not a manifest is a mistake; in a folder it is left out, and that is said.
import { dirname } from 'node:path';
import type { Manifest } from '../../manifests/index.ts';
import { counted } from '../../output/index.ts';

/** Files named in a note before the rest is counted. */
const mostNamed = 3;

export class Skipped {
  private readonly named: ReadonlySet<string>;
  private readonly others = new Set<string>();
  private readonly templates = new Set<string>();
  private readonly kustomizations = new Set<string>();

  constructor(named: readonly string[]) {
    this.named = new Set([...named, 'stdin']);
  }

  /** Whether a document is left out: it was found in a folder, and is not a manifest or not one yet. */
  takes(manifest: Manifest): boolean {
    const { file, value, text, problems } = manifest;
    if (isKind(value, 'Kustomization')) this.kustomizations.add(dirname(file));
    if (this.named.has(file)) return false;
    if (problems.some(({ code, message }) => code === 'syntax' && message.includes('template'))) {
      this.templates.add(file);
      return true;
    }
    if (hasKind(value) || (value === undefined && /^\s*["']?(?:apiVersion|kind)["']?\s*:/m.test(text))) return false;
    if (value !== null) this.others.add(file);
    return true;
  }

  notes(): string[] {
    return [
      ...listed(this.others, (files, names) => `skipped ${files} without a manifest: ${names}`),
      ...listed(
        this.templates,
        (files, names) =>
          `skipped ${files} with templates of Helm: ${names}; render them: helm template CHART | kerf plan -f -`,
      ),
      ...this.kustomizationHints(),
    ];
  }

  /** Patches and overlays read as plain manifests are mistakes of no one: what to do instead. */
  kustomizationHints(): string[] {
    return [...this.kustomizations].map(
      (folder) =>
        `${folder} is a kustomization, which is not applied; render it: kubectl kustomize ${folder} | kerf plan -f -`,
    );
  }
}

const isKind = (value: unknown, kind: string): boolean =>
  (value as { kind?: unknown } | null | undefined)?.kind === kind;

const hasKind = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { kind?: unknown }).kind === 'string';

function listed(files: ReadonlySet<string>, text: (files: string, names: string) => string): string[] {
  if (files.size === 0) return [];
  const names = [...files].slice(0, mostNamed).join(', ');
  const more = files.size > mostNamed ? ` and ${files.size - mostNamed} more` : '';
  return [text(counted(files.size, 'file'), `${names}${more}`)];
}
