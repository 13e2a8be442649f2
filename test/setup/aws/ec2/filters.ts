// EC2's filters, pages and dry runs, once for every list the proxy answers itself.
import { type AwsCall, AwsRefusal } from '../exchange.ts';
import { type FormTree, formText, formTexts, formTrees } from '../form.ts';

export interface Filter {
  name: string;
  values: string[];
}

/** The values an object has under a filter's name; undefined when the name is not one of its filters. */
export type FilterValues = (name: string) => (string | undefined)[] | undefined;

export function readFilters(form: FormTree): Filter[] {
  return formTrees(form, 'Filter').map((filter) => ({
    name: formText(filter, 'Name') ?? '',
    values: formTexts(filter, 'Value'),
  }));
}

/** All filters must match, each by one of its values; `*` and `?` are wildcards. */
export function matchesFilters(filters: Filter[], valuesOf: FilterValues): boolean {
  return filters.every(({ name, values }) => {
    const actual = valuesOf(name);
    // A filter no one implemented must not quietly match everything.
    if (actual === undefined) throw new AwsRefusal('InvalidParameterValue', `The filter '${name}' is invalid`);
    return values.some((wanted) => {
      const pattern = wildcard(wanted);
      return actual.some((value) => value !== undefined && pattern.test(value));
    });
  });
}

function wildcard(text: string): RegExp {
  const escaped = text.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}

export interface Page<T> {
  items: T[];
  nextToken?: string;
}

/** One page as MaxResults and NextToken ask for it; without MaxResults, as many as `most`. */
export function pageOf<T>(
  items: T[],
  maxResults: string | undefined,
  nextToken: string | undefined,
  most: number,
): Page<T> {
  const start = nextToken === undefined ? 0 : Number(Buffer.from(nextToken, 'base64').toString().replace('from ', ''));
  if (!Number.isInteger(start)) throw new AwsRefusal('InvalidNextToken', `The token '${nextToken}' is invalid`);
  const end = start + Math.min(Number(maxResults ?? most), most);
  const page: Page<T> = { items: items.slice(start, end) };
  if (end < items.length) page.nextToken = Buffer.from(`from ${end}`).toString('base64');
  return page;
}

export function ec2Page<T>(call: AwsCall, items: T[], most = 1000): Page<T> {
  return pageOf(items, formText(call.form, 'MaxResults'), formText(call.form, 'NextToken'), most);
}

export function isDryRun(call: AwsCall): boolean {
  return formText(call.form, 'DryRun') === 'true';
}

/** What EC2 says to a dry run that would have worked: an error. */
export function dryRunSucceeded(): AwsRefusal {
  return new AwsRefusal('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
}
