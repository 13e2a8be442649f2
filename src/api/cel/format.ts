// Named formats as values of CEL: `format.dns1123Label().validate(text)` is none for a good text, and a list of what is
// wrong with any other.
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { isDns1035Label, isLabel, isLabelValue, isQualifiedName, isSubdomain, type NameRule } from '../name-rules.ts';
import { matchesFormat } from '../schema/formats.ts';
import { urlProblem } from './url.ts';

/** The library tells types apart by their class. */
class FormatValue {
  readonly name: string;
  readonly problems: NameRule;

  constructor(name: string, problems: NameRule) {
    this.name = name;
    this.problems = problems;
  }
}

/** What `format` is in a rule: a name to hang the formats on. */
class FormatNamespace {
  readonly name = 'format';
}

/** The beginning of a name may end with a dash; more will follow. */
const asPrefix =
  (rule: NameRule): NameRule =>
  (text) =>
    rule(text.length > 1 ? text.replace(/.-$/s, 'a') : text);

const schemaFormat =
  (format: string, problem: string): NameRule =>
  (text) =>
    matchesFormat(format, text) ? [] : [problem];

const formats: Readonly<Record<string, NameRule>> = {
  dns1123Label: isLabel,
  dns1123LabelPrefix: asPrefix(isLabel),
  dns1123Subdomain: isSubdomain,
  dns1123SubdomainPrefix: asPrefix(isSubdomain),
  dns1035Label: isDns1035Label,
  dns1035LabelPrefix: asPrefix(isDns1035Label),
  qualifiedName: isQualifiedName,
  labelValue: isLabelValue,
  uri: (text) => [urlProblem(text) ?? []].flat(),
  uuid: schemaFormat('uuid', 'does not match the UUID format'),
  byte: schemaFormat('byte', 'invalid base64'),
  date: schemaFormat('date', 'invalid date'),
  datetime: schemaFormat('date-time', 'invalid datetime'),
};

export function registerFormats(env: Environment): void {
  const values = new Map(Object.entries(formats).map(([name, rule]) => [name, new FormatValue(name, rule)]));
  env
    .registerType('NamedFormat', FormatValue)
    .registerType('FormatNamespace', FormatNamespace)
    .registerConstant('format', 'FormatNamespace', new FormatNamespace())
    .registerFunction('FormatNamespace.named(string): optional<NamedFormat>', (_: unknown, name: string) =>
      Optional.of(values.get(name)),
    )
    .registerFunction(
      'NamedFormat.validate(string): optional<list<string>>',
      ({ problems }: FormatValue, text: string) => {
        const found = problems(text);
        return found.length === 0 ? Optional.none() : Optional.of(found);
      },
    )
    .registerOperator(
      'NamedFormat == NamedFormat',
      (left: FormatValue, right: FormatValue) => left.name === right.name,
    );
  for (const [name, value] of values) env.registerFunction(`FormatNamespace.${name}(): NamedFormat`, () => value);
}
