// A few of everything Kubernetes adds to CEL; test/rig/cel.test.ts compares all of it with a real API server.
import { expect, test } from 'vitest';
import { compileRules, evaluateRules, type RuleProblem } from '../index.ts';

/** What the expression is, true or false, or why it has no value. */
function outcomeOf(expression: string): string {
  const problems: RuleProblem[] = [];
  const rules = compileRules({ type: 'string', 'x-kubernetes-validations': [{ rule: expression }] }, problems);
  expect(problems).toEqual([]);
  const [error] = evaluateRules(rules, 'x');
  if (error === undefined) return 'true';
  return error.message.includes('failed rule') ? 'false' : error.message;
}

test.each([
  "ip('10.0.0.1').family() == 4 && ip('::1').family() == 6",
  "isIP('1.2.3.4') && !isIP('1.2.3.04') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%en0')",
  "ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')",
  "string(ip('1:0:0:2:0:0:0:3')) == '1:0:0:2::3'",
  "ip('127.0.0.1').isLoopback() && ip('fe80::1').isLinkLocalUnicast() && ip('8.8.8.8').isGlobalUnicast()",
  "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('fd00::1'))",
  "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
  "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('::/0').prefixLength() == 0",
  "['10.0.0.1', '::1'].all(ip, isIP(ip))",
  "isURL('/a') && !isURL('a') && !isURL('https://a:b:c/')",
  "url('https://u:p@e.com:80/a b?k=1&k=2#f').getHost() == 'e.com:80'",
  "url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getPort() == '80'",
  "url('https://e.com/a b').getEscapedPath() == '/a%20b'",
  "url('https://e.com/?k=1&k=2&l=a+b%21').getQuery() == {'k': ['1', '2'], 'l': ['a b!']}",
  "!format.dns1123Label().validate('a-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
  "!format.dns1035LabelPrefix().validate('a-').hasValue() && format.dns1035Label().validate('a-').hasValue()",
  "format.named('uuid').hasValue() && !format.named('zip').hasValue()",
  "format.labelValue().validate('a b').value().size() == 1",
  "semver('1.10.0').isGreaterThan(semver('1.9.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
  "!isSemver('v1.02') && semver('v1.02', true) == semver('1.2.0')",
])('%s', (expression) => {
  expect(outcomeOf(expression)).toBe('true');
});

test.each([
  ["ip('10.0.0').family() == 4", 'IP Address "10.0.0" parse error'],
  ["cidr('10.0.0.0/33').prefixLength() == 33", 'network address parse error'],
  ["url('a').getHost() == ''", 'URL parse error during conversion from string: parse "a": invalid URI for request'],
  ["semver('1').major() == 1", '"1" is not a semantic version'],
])('%s fails', (expression, why) => {
  expect(outcomeOf(expression)).toContain(why);
});
