// What Kubernetes adds to CEL computes the same here as on a real API server: each expression is the message of a rule that
// always fails, so that the server tells what came out. Where an expression fails, both fall back to the rule's own words.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { compileSchema, type Structural, validateAgainstSchema } from '../../src/api/index.ts';
import { isOlderThan } from '../setup/kubernetes-release.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

interface Status {
  details: { causes: { field: string; message: string }[] };
}

/** The values written in a row, and some that cannot be. */
const among = (row: string, ...more: string[]): string[] => [...row.split(' · '), ...more];

const named =
  'dns1123Label · dns1123Subdomain · dns1035Label · qualifiedName · dns1123LabelPrefix · dns1123SubdomainPrefix · ' +
  'dns1035LabelPrefix · labelValue · uuid · byte · date · datetime';

const libraries: Record<string, { expressions: string[]; texts: string[] }> = {
  addresses: {
    expressions: [
      'string(isIP(self))',
      'string(ip(self))',
      'string(ip(self).family())',
      'string(ip.isCanonical(self))',
      'string(ip(self).isUnspecified())',
      'string(ip(self).isLoopback())',
      'string(ip(self).isLinkLocalMulticast())',
      'string(ip(self).isLinkLocalUnicast())',
      'string(ip(self).isGlobalUnicast())',
      "string(ip(self) == ip('10.0.0.1'))",
      "string(cidr('10.0.0.0/8').containsIP(self))",
      "string(cidr('fd00::/8').containsIP(ip(self)))",
      'string(isCIDR(self))',
      'string(cidr(self))',
      'string(cidr(self).masked())',
      'string(cidr(self).ip())',
      'string(cidr(self).prefixLength())',
      "string(cidr('10.0.0.0/8').containsCIDR(self))",
      "string(cidr(self).containsCIDR(cidr('10.1.0.0/16')))",
      'string(cidr(self) == cidr(self).masked())',
    ],
    texts: among(
      '10.0.0.1 · 0.0.0.0 · 127.8.8.8 · 169.254.1.1 · 224.0.0.5 · 224.0.1.5 · 255.255.255.255 · 8.8.8.8 · 010.0.0.1 · ' +
        '1.2.3 · 1.2.3.4.5 · 256.1.1.1 · 1.2.3.04 · 1..2.3 · x · %en0 · 1.2.3.4%e · :: · ::1 · fd00::1 · FE80::1 · ' +
        'fe80::1%en0 · ff02::1 · ff12::1 · ff01::1 · 2001:db8::1 · 1:2:3:4:5:6:7:8 · 1:2:3:4:5:6:7:8:9 · 1:2:3:4:5:6:7:: · ' +
        '1::2::3 · ::: · :1 · 1: · 12345:: · g:: · ::ffff:1.2.3.4 · ::1.2.3.4 · ::ffff:102:304 · 1:2:3:4:5:6:1.2.3.4 · ' +
        '1:0:0:2:0:0:0:3 · 1:0:0:2:0:0:3:4 · 2001:DB8:0:0:1:0:0:1 · 1:2:3:4:5:6:7.8.9.1:2 · 10.1.2.3/8 · 10.0.0.0/8 · ' +
        '10.1.0.0/16 · 10.0.0.0/33 · 10.0.0.0/ · 10.0.0.0/08 · 10.0.0.0/+8 · 10.0.0.0/0 · fd00::1/64 · ::/0 · ::1/129 · ' +
        '::ffff:1.2.3.4/120 · 1.2.3.4/8/8 · /8 · fe80::1%en0/64',
      '',
      ' 1.2.3.4',
    ),
  },
  urls: {
    expressions: [
      'string(isURL(self))',
      'url(self).getScheme()',
      'url(self).getHost()',
      'url(self).getHostname()',
      'url(self).getPort()',
      'url(self).getEscapedPath()',
      "string(url(self) == url('https://example.com/a?b=c#d'))",
      'string(url(self).getQuery().size())',
      "string(url(self).getQuery()['k'].size())",
      "url(self).getQuery()['k'][0]",
      "url(self).getQuery()['k'][1]",
      "url(self).getQuery()['c'][0]",
      "'' in url(self).getQuery() ? 'a key without a name' : 'none'",
    ],
    texts: among(
      'https://user:pass@example.com:80/path?query=val#fragment · https://example.com/a?b=c#d · /absolute-path · ../relative · ' +
        'https://a:b:c/ · https://example.com · http://[::1]:80/ · https://[::1]/ · http://::1/ · db://a:1,b:2/x · HTTPS://E.com · ' +
        '* · a · a:b · :a · //host/path · ///x · mailto:a@b.c · file:/x · file:///x · 1a://b · a+b.c-d://e · a_b://c · ' +
        'https://e.com/with space · https://e.com/%41%2f%zz · https://e.com/%41%2F · https://e.com/%7e~ · https://e.com/é · ' +
        'https://é.com/ · https://e%41.com/ · https://%C3%A9.com/ · https://e%25.com/ · https://e .com/ · https://e"<>.com/ · ' +
        'https://e`.com/ · https://e.com:/ · https://e.com:80a/ · https://[fe80::1%25en0]:8/ · https://[fe80::1%25]/ · ' +
        'https://[1.2.3.4]/ · https://[::ffff:1.2.3.4]/ · https://[x]/ · https://[::1 · https://a[::1]/ · https://u@h · ' +
        'https://u v@h · https://u%zz@h · https://a@b@c · https://:p@h · https://h? · https://h?? · https://h?k=a&k=b&c=%41+d · ' +
        'https://h?k=%zz&c · https://h?k=a;b · https://h?=x&&k · https://h?k=%ff · https://h/#%zz · https://h# · /a?k=1#k=2 · ' +
        "/a:b · a/b:c · ./a:b · /(a)!*'$&+,;=@[b] · /^|`{}<> · https://h/%ff · x: · https: · https:/ · https:// · https://?k=1",
      '',
      '/"\\',
      '\u0001',
      'a\u007fb',
    ),
  },
  formats: {
    expressions: [
      ...among(named).flatMap((name) => [
        `string(format.${name}().validate(self).hasValue())`,
        `format.${name}().validate(self).value()[0]`,
        `string(format.${name}().validate(self).value().size())`,
      ]),
      "format.uri().validate(self).hasValue() ? 'no URI' : 'a URI'",
      "format.named(self).hasValue() ? 'known' : 'unknown'",
      "format.named('labelValue').value().validate(self).hasValue() ? 'no label' : 'a label'",
      "string(format.uri() == format.named('uri').value())",
    ],
    texts: among(
      'a · A · a-b · a- · -a · a.b · a.b- · 1a · - · a_b · a/b · a/b/c · /b · a/ · x.y/A_b.c · A.b/c · é · dns1123Label · uri · ' +
        'https://e.com/ · /x · x y · 123e4567-e89b-12d3-a456-426614174000 · 123e4567e89b12d3a456426614174000 · ' +
        '123E4567-E89B-12D3-A456-42661417400 · aGVsbG8= · aGVsbG8 · aGVs · 2021-01-01 · 2021-02-30 · 2021-1-1 · ' +
        '2021-01-01T00:00:00Z · 2021-01-01T00:00:00.5+01:00 · 2021-01-01 00:00:00Z · 2021-01-01T25:00:00Z',
      '',
      'x'.repeat(63),
      'x'.repeat(64),
      `${'x'.repeat(64)}-`,
      `a/${'x'.repeat(64)}`,
      `${'x.'.repeat(130)}a/b`,
    ),
  },
  versions: {
    expressions: [
      'string(isSemver(self))',
      'string(isSemver(self, true))',
      'string(semver(self).major())',
      'string(semver(self, true).minor())',
      'string(semver(self, true).patch())',
      "string(semver(self).compareTo(semver('1.2.3-rc.2')))",
      "string(semver(self).isLessThan(semver('1.10.0')))",
      "string(semver(self).isGreaterThan(semver('1.2.3-alpha')))",
      "string(semver(self) == semver('1.2.3+b'))",
    ],
    texts: among(
      '1.2.3 · 1.2.3+a · 1.2.3-rc.2 · 1.2.3-rc.10 · 1.2.3-rc · 1.2.3-2 · 1.2.3-alpha-1 · 1.2.3-01 · 1.2.3-0a · 1.2.3-a..b · ' +
        '1.2.3- · 1.2.3+ · 1.2.3+01 · 1.2.3+a_b · 01.2.3 · 1.2 · 1 · v1.2.3 · v1 · V1.0.0 · 1.02.003 · 00.00.00 · 1.2-rc · ' +
        '1.2.3.4 · v · 1.-1.0 · 18446744073709551616.0.0 · 1.10.0 · 1.9.9 · 200K · 1.2.03-rc · 0-a · ' +
        '1.0.0-18446744073709551616',
      '',
      ' 1.2.3',
      '1.2.3 ',
    ),
  },
};

const cluster = useControlPlane();

const schemaOf = (expressions: readonly string[]): Structural => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(
        expressions.map((expression, index) => [
          `e${index}`,
          {
            type: 'string',
            maxLength: 300,
            'x-kubernetes-validations': [{ rule: 'false', messageExpression: expression }],
          },
        ]),
      ),
    },
  },
});

beforeAll(async () => {
  for (const [name, { expressions }] of Object.entries(libraries)) {
    const answer = await cluster().request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${name}.cel.example.com` },
      spec: {
        group: 'cel.example.com',
        scope: 'Cluster',
        names: { plural: name, singular: name, kind: kindOf(name), listKind: `${kindOf(name)}List` },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(expressions) } }],
      },
    });
    expect(
      (answer.body as Partial<Status>).details?.causes?.map(({ field, message }) => `${field} ${message}`),
    ).toBeUndefined();
  }
  for (const name of Object.keys(libraries)) {
    while ((await cluster().request('GET', `/apis/cel.example.com/v1/${name}`)).status !== 200) await sleep(50);
  }
});

const kindOf = (name: string): string => `Cel${name}`;

const isOlder = isOlderThan(36, 'URLs and formats are read by the rules of a newer Go');

test.skipIf(isOlder).each(Object.entries(libraries))('%s', async (name, { expressions, texts }) => {
  const compiled = compileSchema(schemaOf(expressions));
  expect(compiled.problems).toEqual([]);
  const both: { ours: string[]; theirs: string[] } = { ours: [], theirs: [] };
  for (const text of texts) {
    const spec = Object.fromEntries(expressions.map((_, index) => [`e${index}`, text]));
    const object = { apiVersion: 'cel.example.com/v1', kind: kindOf(name), metadata: { name: 'x' }, spec };
    const answer = await cluster().request('POST', `/apis/cel.example.com/v1/${name}?dryRun=All`, object);
    const theirs = (answer.body as Status).details.causes.map(({ field, message }) => [field, message] as const);
    const ours = validateAgainstSchema(compiled, object).map(({ field, message }) => [field, message] as const);
    both.ours.push(...shown(text, expressions, ours));
    both.theirs.push(...shown(text, expressions, theirs));
  }
  expect(both.theirs).toHaveLength(texts.length * expressions.length);
  expect(both.ours).toEqual(both.theirs);
});

/** What each expression came to, in words that tell which one differs. */
function shown(text: string, expressions: readonly string[], said: readonly (readonly [string, string])[]): string[] {
  return said
    .map(([field, message]) => {
      const expression = expressions[Number(/\d+$/.exec(field)?.[0])] ?? field;
      return `${JSON.stringify(text)}: ${expression} ${message.replace(/^Invalid value: "(?:[^"\\]|\\.)*": /, '')}`;
    })
    .sort();
}
