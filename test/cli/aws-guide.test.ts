// The guide to AWS: its manifests are valid and its commands work.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { awsSettingDefinitions, settingDefinitions } from '../../src/server/index.ts';
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

test('every setting that the guide and the manifest of the controller name exists', () => {
  const known = new Set(
    [settingDefinitions, awsSettingDefinitions].flatMap((table) => Object.values(table).map(({ env }) => env)),
  );
  const manifest = readFileSync(resolve(root, 'examples/aws/controller.yaml'), 'utf8');
  const named = [
    ...[...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`/g)].map(([, name = '']) => name),
    ...[...manifest.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, name = '']) => name),
  ];
  const others = ['AWS_CA_BUNDLE', 'HTTPS_PROXY', 'NO_PROXY', 'CONFIG_MAP', 'SYSTEM_NAMESPACE'];
  expect(named).toEqual(expect.arrayContaining(['INTERRUPTION_QUEUE', 'SPOT_REBALANCE_POLICY', 'CLUSTER_NAME']));
  expect(named.filter((name) => !known.has(name) && !others.includes(name))).toEqual([]);
});

test('names that one step makes are those the next one uses', async () => {
  const env = { AWS_REGION: 'eu-west-1' };
  const made = async (part: string): Promise<string> =>
    (await runKerf(['iam', part, '--cluster', 'my-cluster', '-o', 'cloudformation'], { env })).out;
  const used = (pattern: RegExp): string => (pattern.exec(text)?.[1] ?? '').replace('$CLUSTER', 'my-cluster');
  expect(await made('trust')).toContain(`RoleName: ${used(/--role-arn \S+:role\/(\S+)/)}\n`);
  expect(await made('node-role')).toContain(`RoleName: ${used(/^ {2}role: (\S+)$/m)}\n`);
  const manifest = readFileSync(resolve(root, 'examples/aws/controller.yaml'), 'utf8');
  const queue = /INTERRUPTION_QUEUE\n\s+value: (\S+)/.exec(manifest)?.[1];
  expect(await made('queue')).toContain(`QueueName: ${queue}\n`);
  const files = [...text.matchAll(/> ([\w-]+)\.yaml$/gm)].map(([, file = '']) => file);
  const deployed = /for part in ([^;]+);/.exec(text)?.[1]?.split(' ') ?? [];
  expect(deployed.filter((file) => !files.includes(file))).toEqual([]);
});

test('the command that makes an alias of the name of an image makes one that a node class takes', () => {
  const [, before = '', after = ''] = /sed 's\/(.*)\/(.*)\/'/.exec(text) ?? [];
  const name = 'amazon-eks-node-al2023-x86_64-standard-1.34-v20260110';
  expect(text).toContain(`alias: ${name.replace(new RegExp(before), after)}\n`);
});

test.each(commands)('%s', async (command) => {
  const [, ...args] = command.replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? '').split(/\s+/);
  const { code, out, err } = await runKerf(args, { env: { AWS_REGION: 'eu-west-1' } });
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out.length).toBeGreaterThan(100);
});
