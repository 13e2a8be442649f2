// Which version of Bottlerocket a class boots, as far as its selector terms or the names of its images tell.
import type { EC2NodeClass } from '../../api/index.ts';

const tokenOf = (name: string | undefined): string | undefined =>
  name?.split('-').find((token) => token.startsWith('v') && token.includes('.'));

export function bottlerocketVersion({ spec, status }: Pick<EC2NodeClass, 'spec' | 'status'>): string {
  // Other images may carry versions of something else in their names.
  const named = (status?.amis ?? []).filter(({ name }) => name?.includes('bottlerocket'));
  const ids = new Set(spec.amiSelectorTerms.flatMap(({ id }) => id ?? []));
  const hints = [
    ...spec.amiSelectorTerms.map(({ alias }) => alias?.split('@')[1]),
    ...spec.amiSelectorTerms.map(({ name }) => tokenOf(name)),
    ...named.filter(({ id }) => ids.has(id)).map(({ name }) => tokenOf(name)),
    ...named.map(({ name }) => tokenOf(name)),
  ];
  return hints.find((hint) => hint !== undefined) ?? '';
}

/** From 1.46.0 on, `ephemeral-storage bind` knows by itself which folders to move. */
export function bindsByDefault(version: string): boolean {
  if (version === 'latest' || version === 'latest-fips') return true;
  const match = /^v?(\d+)\.(\d+)\.\d+/.exec(version);
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > 1 || (major === 1 && minor >= 46);
}
