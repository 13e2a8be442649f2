// The Terraform module, and what `kerf iam -o terraform` prints, read by the parser of HashiCorp: syntax, formatting, references, and
// policies that are JSON once the names are filled in; the same policies as `kerf iam -o json` prints.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { runProgram } from '../setup/run-program.ts';
import { provideTerraformCheck } from '../setup/terraform-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-terraform-'));
afterAll(() => rmSync(folder, { recursive: true }));

const account = '123456789012';
const values = {
  var: { cluster_name: 'shop', namespace: 'kube-system', service_account: 'karpenter' },
  data: {
    aws_caller_identity: { current: { account_id: account } },
    aws_partition: { current: { partition: 'aws', dns_suffix: 'amazonaws.com' } },
    aws_region: { current: { region: 'eu-west-1' } },
  },
};

interface Report {
  problems: string[];
  unformatted: string[];
  names: string[];
  values: Record<string, Record<string, unknown>>;
}

async function read(module: string): Promise<Report> {
  const given = join(folder, 'values.json');
  writeFileSync(given, JSON.stringify(values));
  const program = await provideTerraformCheck((line) => console.error(line));
  return JSON.parse((await runProgram(program, [module, given])).stdout) as Report;
}

/** Attributes that hold a policy or a pattern, as what they mean. */
function documentsOf({ values: found }: Report): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, attributes]) =>
      ['policy', 'assume_role_policy', 'event_pattern'].flatMap((key) => {
        const text = attributes[key];
        return typeof text === 'string' ? [[`${name}.${key}`, JSON.parse(text) as unknown]] : [];
      }),
    ),
  );
}

async function printed(...args: string[]): Promise<string> {
  const flags = ['--cluster', 'shop', '--region', 'eu-west-1', '--account', account];
  const { code, out, err } = await runKerf(['iam', ...args, ...flags]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

const report = async (which: string): Promise<Report> => {
  if (which === 'module') return read(resolve('deploy/terraform'));
  const own = mkdtempSync(join(folder, `${which}-`));
  writeFileSync(join(own, 'main.tf'), await printed(which, '-o', 'terraform'));
  return read(own);
};

test.each(['module', 'policy', 'queue', 'trust', 'node-role'])(
  '%s is what Terraform reads: syntax, references, formatting, and JSON where JSON is meant',
  async (which) => {
    const found = await report(which);
    const { problems, unformatted } = found;
    expect({ problems, unformatted }).toEqual({ problems: [], unformatted: [] });
    const documents = documentsOf(found);
    expect(Object.keys(documents).length).toBeGreaterThan(0);
    expect(JSON.stringify(documents)).not.toContain('${');
  },
);

test.each(['module', 'policy'])('%s holds the policies that kerf iam prints as JSON', async (which) => {
  const documents = Object.entries(documentsOf(await report(which)));
  const policies = documents.flatMap(([name, document]) => (name.startsWith('aws_iam_policy.') ? [document] : []));
  const wanted = JSON.parse(await printed('policy', '-o', 'json')) as object;
  expect(policies).toHaveLength(6);
  for (const policy of Object.values(wanted)) expect(policies).toContainEqual(policy);
});

test('a module with a mistake is not taken', async () => {
  const wrong = mkdtempSync(join(folder, 'wrong-'));
  writeFileSync(join(wrong, 'main.tf'), 'resource "aws_iam_role" "a" {\n  name = var.clustername\n}\n');
  expect((await read(wrong)).problems).toEqual([expect.stringContaining('var.clustername is not declared')]);
});
