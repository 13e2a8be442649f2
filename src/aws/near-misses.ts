// What a selector that finds nothing nearly found: things that have a tag it asks for, with another value. Reported so that
// no one has to compare tags by hand.
import type { Filter, Tag } from '@aws-sdk/client-ec2';

export interface TagTerm {
  tags?: Readonly<Record<string, string>>;
}

/** How many values of a tag are worth naming. */
const valuesShown = 3;

const keysOf = (terms: readonly TagTerm[]): string[] =>
  [...new Set(terms.flatMap(({ tags }) => Object.keys(tags ?? {})))].sort();

/** `ask` lists the tags of what passes the filters. A clause; undefined where no term asks for tags. */
export async function nearMisses(
  noun: string,
  terms: readonly TagTerm[],
  ask: (filters: Filter[]) => Promise<readonly (readonly Tag[] | undefined)[]>,
): Promise<string | undefined> {
  const keys = keysOf(terms);
  if (keys.length === 0) return undefined;
  const tagged = await ask([{ Name: 'tag-key', Values: keys }]);
  return keys
    .map((key) => {
      const values = tagged.flatMap(
        (tags) => tags?.filter(({ Key }) => Key === key).map(({ Value = '' }) => Value) ?? [],
      );
      if (values.length === 0) return `no ${noun} has the tag ${key}`;
      const distinct = [...new Set(values)].sort();
      const others = distinct.length > valuesShown ? ', …' : '';
      const shown = distinct.slice(0, valuesShown).map((value) => `"${value}"`);
      const have = values.length === 1 ? `1 ${noun} has` : `${values.length} ${noun}s have`;
      return `${have} the tag ${key} with the value ${shown.join(', ')}${others}`;
    })
    .join('; ');
}
