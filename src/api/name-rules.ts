// The shapes of names, labels and keys, with the sentences the API server refuses the others with.

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualified})?`;
const configKey = '[-._a-zA-Z0-9]+';

/** Returns what is wrong with a text, if anything. */
export type NameRule = (text: string) => string[];

/** `most` is the length allowed, as the server says it: characters of names, bytes of labels. */
function rule(most: string, pattern: string, sentence: string, ...examples: string[]): NameRule {
  const whole = new RegExp(`^${pattern}$`);
  const example =
    examples.length === 0
      ? ''
      : `e.g. ${examples.map((item, index) => (index === 0 ? `'${item}'` : ` or '${item}'`)).join(', ')}, `;
  const shown = `${sentence} (${example}regex used for validation is '${pattern}')`;
  return (text) => [
    ...(text.length > Number.parseInt(most, 10) ? [`must be no more than ${most}`] : []),
    ...(whole.test(text) ? [] : [shown]),
  ];
}

export const isSubdomain = rule(
  '253 characters',
  subdomain,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  'example.com',
);
const labelForm = rule(
  '63 characters',
  label,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  'my-name',
  '123-abc',
);
/** A subdomain that is not a label has dots, and is reported. */
export const isLabel: NameRule = (text) => {
  const problems = labelForm(text);
  const hasDots = new RegExp(`^${subdomain}$`).test(text) && text.includes('.');
  return hasDots ? [...problems.slice(0, -1), 'must not contain dots'] : problems;
};
export const isDns1035Label = rule(
  '63 characters',
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  'my-name',
  'abc-123',
);
export const isLabelValue = rule(
  '63 bytes',
  labelValue,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  'MyValue',
  'my_value',
  '12345',
);
export const isConfigKey: NameRule = (text) => {
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  if (text.startsWith('..')) return ["must not start with '..'"];
  return configKeyForm(text);
};
const configKeyForm = rule(
  '253 characters',
  configKey,
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  'key.name',
  'KEY_NAME',
  'key-name',
);
const qualifiedSentence =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const namePart = rule('63 bytes', qualified, qualifiedSentence, 'MyName', 'my.name', '123-abc');

/** A label key: a name, optionally after a subdomain and a slash. */
export const isQualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedSentence} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') errors.push('prefix part must be non-empty');
    else
      errors.push(...isSubdomain(prefix).map((message) => `prefix part ${message.replace(/ characters$/, ' bytes')}`));
  }
  const name = parts.at(-1) as string;
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push('name part must be no more than 63 bytes');
  if (!/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) {
    errors.push(
      ...namePart(name)
        .filter((message) => !message.startsWith('must be no more'))
        .map((message) => `name part ${message}`),
    );
  }
  return errors;
};

/** What RBAC objects may be called: anything that is one segment of a path. */
export const isPathSegment: NameRule = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((bad) => text.includes(bad)).map((bad) => `may not contain '${bad}'`);
};
