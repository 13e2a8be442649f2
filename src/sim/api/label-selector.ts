// Reading label selectors (`app=web,tier in (a, b),!legacy`) token by token, with the API server's answers to nonsense.
import { isLabelValue, isQualifiedName } from '../../api/index.ts';
import { badRequest } from './status.ts';

export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

export interface SelectorRequirement {
  key: string;
  operator: SelectorOperator;
  values: string[];
}

interface Token {
  kind: 'word' | 'symbol' | 'end';
  text: string;
}

const symbols = ['==', '!=', '=', '!', '<', '>', '(', ')', ','];
const operators = new Map<string, SelectorOperator>([
  ['=', 'In'],
  ['==', 'In'],
  ['!=', 'NotIn'],
  ['>', 'Gt'],
  ['<', 'Lt'],
  ['in', 'In'],
  ['notin', 'NotIn'],
]);

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
    if (symbol !== undefined) {
      tokens.push({ kind: 'symbol', text: symbol });
      at += symbol.length;
      continue;
    }
    let end = at;
    while (end < text.length && !/[\s=!<>(),]/.test(text.charAt(end))) end += 1;
    tokens.push({ kind: 'word', text: text.slice(at, end) });
    at = end;
  }
  return tokens;
}

class Reader {
  private readonly tokens: Token[];
  private at = 0;

  constructor(text: string) {
    this.tokens = tokenize(text);
  }

  peek(): Token {
    return this.tokens[this.at] ?? { kind: 'end', text: '' };
  }

  take(): Token {
    const token = this.peek();
    this.at += 1;
    return token;
  }
}

const unparsable = (why: string): Error => badRequest(`unable to parse requirement: ${why}`);

export function readLabelSelector(text: string): SelectorRequirement[] {
  const reader = new Reader(text);
  const requirements: SelectorRequirement[] = [];
  while (reader.peek().kind !== 'end') {
    const start = reader.peek();
    if (start.kind !== 'word' && start.text !== '!') {
      throw badRequest(`found '${start.text}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(readRequirement(reader));
    const next = reader.take();
    if (next.kind === 'end') break;
    if (next.text !== ',') throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`);
    const after = reader.peek();
    if (after.kind !== 'word' && after.text !== '!') {
      throw badRequest(`found '${after.text}', expected: identifier after ','`);
    }
  }
  return requirements;
}

function readRequirement(reader: Reader): SelectorRequirement {
  const absent = reader.peek().text === '!' && reader.peek().kind === 'symbol';
  if (absent) reader.take();
  const key = reader.take();
  if (key.kind !== 'word') throw unparsable(`found '${key.text}', expected: identifier`);
  for (const message of isQualifiedName(key.text)) {
    throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key.text)}: ${message}`);
  }
  if (absent) return { key: key.text, operator: 'DoesNotExist', values: [] };
  const next = reader.peek();
  if (next.kind === 'end' || next.text === ',') return { key: key.text, operator: 'Exists', values: [] };
  reader.take();
  const operator = operators.get(next.text);
  if (operator === undefined) throw unparsable(`found '${next.text}', expected: in, notin, =, ==, !=, gt, lt`);
  const values = next.kind === 'word' ? readSet(reader) : [readValue(reader)];
  checkValues(key.text, operator, values);
  return { key: key.text, operator, values };
}

function readValue(reader: Reader): string {
  // `app=` asks for the empty value.
  return reader.peek().kind === 'word' ? reader.take().text : '';
}

function readSet(reader: Reader): string[] {
  const open = reader.take();
  if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
  const values = [readValue(reader)];
  while (reader.peek().text === ',') {
    reader.take();
    values.push(readValue(reader));
  }
  const close = reader.take();
  if (close.text !== ')') throw unparsable(`found '${close.text}', expected: ',', or identifier`);
  return values;
}

function checkValues(key: string, operator: SelectorOperator, values: string[]): void {
  values.forEach((value, index) => {
    const at = `values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}`;
    if ((operator === 'Gt' || operator === 'Lt') && !/^-?\d+$/.test(value)) {
      throw unparsable(`${at}: for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    for (const message of isLabelValue(value)) throw unparsable(`${at}: ${message}`);
  });
}
