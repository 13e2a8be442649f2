// Tags of a selector term as EC2 filters. A value of `*` asks only for the key; wildcards inside values are EC2's own.
import type { Filter } from '@aws-sdk/client-ec2';

export function tagFilters(tags: Readonly<Record<string, string>> | undefined): Filter[] {
  return Object.entries(tags ?? {})
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) =>
      value === '*' ? { Name: 'tag-key', Values: [key] } : { Name: `tag:${key}`, Values: [value] },
    );
}
