// Evidence as a page shows it: lines that say the same are one, and a source that the line itself begins with is not said twice.

interface Evidence {
  source: string;
  text: string;
}

export function shownEvidence(evidence: readonly Evidence[]): (Evidence & { count: number })[] {
  const lines = new Map<string, Evidence & { count: number }>();
  for (const { source, text } of evidence) {
    const known = lines.get(text);
    if (known !== undefined) known.count += 1;
    else lines.set(text, { source: text.startsWith(`${source}:`) ? '' : source, text, count: 1 });
  }
  return [...lines.values()];
}
