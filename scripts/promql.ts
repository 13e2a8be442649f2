// PromQL read by Prometheus' own grammar: which metrics an expression names, with which labels, and where matchers can be put in.
import { parser } from '@prometheus-io/lezer-promql';

interface Selector {
  metric: string;
  labels: string[];
  /** Where its braces begin; behind its name where it has none. */
  from: number;
  hasBraces: boolean;
}

export interface Expression {
  selectors: Selector[];
  /** Of `by`, `without`, `on` and `ignoring`. */
  groupingLabels: string[];
}

/** Throws where the expression is not PromQL. */
export function readExpression(text: string): Expression {
  const selectors: Selector[] = [];
  const groupingLabels: string[] = [];
  let isGrouping = false;
  parser.parse(text).iterate({
    enter({ name, from, to, type }) {
      const own = text.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: ${text.slice(0, from)} ⚠ ${text.slice(from)}`);
      if (name === 'VectorSelector') selectors.push({ metric: '', labels: [], from: to, hasBraces: false });
      const last = selectors.at(-1);
      if (name === 'Identifier' && last !== undefined) Object.assign(last, { metric: own, from: to });
      if (name === 'LabelMatchers' && last !== undefined) Object.assign(last, { from, hasBraces: true });
      if (name === 'GroupingLabels') isGrouping = true;
      if (name === 'LabelName') (isGrouping ? groupingLabels : (last?.labels ?? [])).push(own);
    },
    leave({ name }) {
      if (name === 'GroupingLabels') isGrouping = false;
    },
  });
  return { selectors, groupingLabels };
}

/** The expression with more matchers in every selector. */
export function withMatchers(text: string, matchersOf: (metric: string) => readonly string[]): string {
  let result = text;
  for (const { metric, labels, from, hasBraces } of readExpression(text).selectors.toReversed()) {
    const added = matchersOf(metric).join(', ');
    if (added === '') continue;
    const inner = hasBraces ? `{${added}${labels.length > 0 ? ', ' : ''}` : `{${added}}`;
    result = `${result.slice(0, from)}${inner}${result.slice(hasBraces ? from + 1 : from)}`;
  }
  return result;
}
