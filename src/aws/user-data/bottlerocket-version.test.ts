import { expect, test } from 'vitest';
import type { EC2NodeClass } from '../../api/index.ts';
import { nodeClass } from '../node-class.testing.ts';
import { bindsByDefault, bottlerocketVersion } from './bottlerocket-version.ts';

test.each([
  ['1.45.0', false],
  ['1.46.0', true],
  ['1.47.0', true],
  ['2.0.0', true],
  ['v1.45.0', false],
  ['v1.46.0', true],
  ['1.9.0', false],
  ['latest', true],
  ['1', false],
  ['1.46', false],
  ['', false],
  ['text', false],
])('version %j binds folders by default: %s', (version, expected) => {
  expect(bindsByDefault(version)).toBe(expected);
});

type Terms = EC2NodeClass['spec']['amiSelectorTerms'];
const image = (id: string, name: string) => ({ id, name, requirements: [] });

test.each<[string, Terms, string[], string]>([
  ['the alias', [{ alias: 'bottlerocket@1.20.0' }], ['bottlerocket-aws-k8s-1.32-x86_64-v1.30.0'], '1.20.0'],
  ['the name of a term', [{ name: 'bottlerocket-aws-k8s-1.32-x86_64-v1.21.0-abc' }], [], 'v1.21.0'],
  ['the image a term names', [{ id: 'ami-0' }], ['my-bottlerocket-v1.22.0'], 'v1.22.0'],
  ['no image of another make', [{ id: 'ami-0' }], ['own-v1.22.0'], ''],
  ['any image of Bottlerocket', [{ tags: { a: 'b' } }], ['own-v1.22.0', 'bottlerocket-v1.23.0'], 'v1.23.0'],
  ['nothing', [{ tags: { a: 'b' } }], ['own-v1.22.0'], ''],
])('the version is reported by %s', (_, amiSelectorTerms, names, version) => {
  const amis = names.map((name, index) => image(`ami-${index}`, name));
  expect(bottlerocketVersion(nodeClass({ amiSelectorTerms }, { status: { amis } }))).toBe(version);
});
