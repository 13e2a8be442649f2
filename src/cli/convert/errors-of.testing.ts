// What `kerf validate` calls an error in a text, for tests of what comes out of conversion.
import { runCommand } from '../run-command.testing.ts';
import { configure } from '../validate/validate.ts';

export async function errorsOf(text: string): Promise<string[]> {
  const { out } = await runCommand(configure, ['-f', '-', '-o', 'json'], text);
  const { findings } = JSON.parse(out) as {
    findings: { severity: string; rule: string; field: string; message: string }[];
  };
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, field, message }) => `${rule} ${field} ${message}`);
}
