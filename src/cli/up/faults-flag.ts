// The value of `--faults`, judged by the schema of the object it becomes a part of: a misspelt fault would be dropped there
// without a word, and nothing would go wrong.
import { InvalidArgumentError } from 'commander';
import { admitKind, fieldErrorText, type KwokFaults, kinds } from '../../api/index.ts';

export function faultsIn(text: string): KwokFaults {
  const faults = parsed(text);
  const definition = kinds.find(({ kind }) => kind === 'KWOKNodeClass');
  if (definition === undefined) return faults;
  const { unknownFields, errors } = admitKind(definition, { metadata: { name: 'default' }, spec: { faults } });
  const problems = [...unknownFields.map(({ field }) => `unknown field ${field}`), ...errors.map(fieldErrorText)];
  if (problems.length > 0) throw new InvalidArgumentError(`${problems.join('; ')}.`);
  return faults;
}

function parsed(text: string): KwokFaults {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below, with what to write instead.
  }
  throw new InvalidArgumentError('write a JSON object such as {"vanish":[{"after":"10m","percent":5}]}.');
}
