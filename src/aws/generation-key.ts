// Answers about a class are kept under its identity and generation: a changed spec never sees what was found for another.
import type { EC2NodeClass } from '../api/index.ts';

export function generationKey({ metadata }: Pick<EC2NodeClass, 'metadata'>): string {
  return `${metadata.uid ?? metadata.name}-${metadata.generation ?? 0}`;
}
