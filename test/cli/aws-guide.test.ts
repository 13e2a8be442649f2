// The guide to AWS: its manifests are valid and its commands work.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runKerf } from './run-kerf.ts';

const root = resolve(import.meta.dirname, '../..');
const guide = resolve(root, 'docs/guide/aws.md');
const text = readFileSync(guide, 'utf8');
const values: Record<string, string> = {
  CLUSTER: 'my-cluster',
  ACCOUNT: '123456789012',
  ISSUER: 'https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE',
};
const commands = [...text.matchAll(/^(kerf (?:iam|crds)[^|>\n]*)/gm)].map(([, command = '']) => command.trim());

test.each([guide, resolve(root, 'examples/aws')])('every manifest of %s passes kerf validate', async (what) => {
  const { code, out } = await runKerf(['validate', '-f', what]);
  expect(out).toMatch(/no problems in/);
  expect(code).toBe(0);
});

test('the guide shows every part of kerf iam', () => {
  for (const part of ['policy', 'trust', 'node-role', 'queue'])
    expect(commands.some((command) => command.startsWith(`kerf iam ${part}`))).toBe(true);
});

test.each(commands)('%s', async (command) => {
  const [, ...args] = command.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? '').split(/\s+/);
  const { code, out, err } = await runKerf(args, { env: { AWS_REGION: 'eu-west-1' } });
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out.length).toBeGreaterThan(100);
});
