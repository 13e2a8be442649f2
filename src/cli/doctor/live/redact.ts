// Takes out of collected files what is no one else's business: account ids, addresses, endpoints and certificates become
// stand-ins, the same text the same stand-in everywhere, so that mappings and rules still meet. Environment of application
// containers and last-applied copies go. Names of objects stay: a diagnosis without names is of no use.
import { slim } from '../slim.ts';
import type { LiveFile } from './cluster.ts';

const patterns: readonly [RegExp, (index: number) => string][] = [
  [/(?<![\d.])\d{12}(?![\d.])/g, (index) => String(100_000_000_000 + index)],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b(?!\/)/g, (index) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`],
  [/\b[A-F0-9]{32}\b/g, (index) => index.toString(16).toUpperCase().padStart(32, '0')],
  [/[\w.+-]+@[\w-]+\.[\w.]+/g, (index) => `person${index}@example.com`],
  [/\bLS0tLS1CRUdJTi[\w+/=]+/g, () => 'certificate'],
];

export class Redactor {
  private readonly known = new Map<string, string>();

  file({ path, text }: LiveFile): LiveFile {
    const slimmed = path.startsWith('objects/') ? this.slimmed(text) : text;
    let redacted = slimmed;
    for (const [pattern, standIn] of patterns)
      redacted = redacted.replaceAll(pattern, (found) => {
        let known = this.known.get(found);
        if (known === undefined) this.known.set(found, (known = standIn(this.known.size + 1)));
        return known;
      });
    return { path: this.path(path), text: redacted };
  }

  private slimmed(text: string): string {
    const list = JSON.parse(text) as { items?: unknown[] };
    return JSON.stringify({ ...list, items: (list.items ?? []).map(slim) });
  }

  private path(path: string): string {
    return path.replaceAll(/\d{12}/g, (found) => this.known.get(found) ?? found);
  }
}
