// Plain data as YAML, to be read and edited: what JSON can say, without its brackets.

type Data = unknown;

export const yamlOf = (data: Data): string => `${lines(data).join('\n')}\n`;

function lines(data: Data): string[] {
  if (isEmpty(data)) return [flow(data)];
  if (Array.isArray(data)) return data.flatMap((each) => below('- ', '  ', each));
  if (typeof data === 'object' && data !== null) {
    return Object.entries(data)
      .filter(([, value]) => value !== undefined)
      .flatMap(([key, value]) => field(key, value));
  }
  return [scalar(data)];
}

function field(key: string, value: Data): string[] {
  const name = scalar(key);
  if (isEmpty(value) || typeof value !== 'object' || value === null) return [`${name}: ${flow(value)}`];
  return [`${name}:`, ...lines(value).map((line) => `  ${line}`)];
}

function below(first: string, rest: string, value: Data): string[] {
  if (isEmpty(value)) return [`${first}${flow(value)}`];
  return lines(value).map((line, at) => `${at === 0 ? first : rest}${line}`);
}

const isEmpty = (value: Data): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const flow = (value: Data): string => (isEmpty(value) ? (Array.isArray(value) ? '[]' : '{}') : scalar(value));

/** Words that need no quotes in any version of YAML; everything else is written as JSON, which is YAML too. */
const plain = /^[A-Za-z][\w./-]*( [\w./-]+)*$/;
const notText = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(value: Data): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return plain.test(value) && !notText.test(value) ? value : JSON.stringify(value);
}
