// IP addresses and networks as values of CEL: `ip`, `cidr` and their kin. As in Kubernetes, an address with a zone or an
// IPv4 address written as IPv6 is none, and leading zeros are not allowed in IPv4.
import { type Environment, EvaluationError } from '@marcbachmann/cel-js';

/** The library tells types apart by their class. */
class IpValue {
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }
}

class CidrValue {
  readonly address: IpValue;
  readonly length: number;

  constructor(address: IpValue, length: number) {
    this.address = address;
    this.length = length;
  }
}

/** What `ip` is in `ip.isCanonical(text)`. */
class IpNamespace {
  readonly name = 'ip';
}

const octet = /^(0|[1-9][0-9]{0,2})$/;

function parseV4(text: string): bigint | undefined {
  const fields = text.split('.');
  if (fields.length !== 4 || !fields.every((field) => octet.test(field) && Number(field) < 256)) return undefined;
  return fields.reduce((bits, field) => (bits << 8n) | BigInt(field), 0n);
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const tail = groups.at(-1) ?? [];
  if (tail.at(-1)?.includes('.')) {
    const v4 = parseV4(tail.pop() ?? '');
    if (v4 === undefined) return undefined;
    tail.push((v4 >> 16n).toString(16), (v4 & 0xffffn).toString(16));
  }
  const written = groups.flat();
  if (!written.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  // The two colons stand for one group at least.
  if (halves.length === 2 ? written.length > 7 : written.length !== 8) return undefined;
  const zeros = Array.from({ length: 8 - written.length }, () => '0');
  const [head = [], rest = []] = groups;
  return [...head, ...zeros, ...rest].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

export function parseIp(text: string): IpValue | undefined {
  const isV6 = text.includes(':');
  const bits = isV6 ? parseV6(text) : parseV4(text);
  if (bits === undefined || (isV6 && bits >> 32n === 0xffffn)) return undefined;
  return new IpValue(isV6 ? 6 : 4, bits);
}

/** The canonical form: lower case, the first of the longest runs of zeros left out. */
function ipText({ family, bits }: IpValue): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  let [start, count] = [0, 1];
  for (let at = 0; at < 8; at += 1) {
    let end = at;
    while (end < 8 && groups[end] === '0') end += 1;
    if (end - at > count) [start, count] = [at, end - at];
  }
  if (count < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + count).join(':')}`;
}

function parseCidr(text: string): CidrValue | undefined {
  const slash = text.lastIndexOf('/');
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (address === undefined || !octet.test(length)) return undefined;
  return Number(length) > widthOf(address) ? undefined : new CidrValue(address, Number(length));
}

const widthOf = ({ family }: IpValue): number => (family === 4 ? 32 : 128);

/** The first `length` bits. */
const prefixOf = (address: IpValue, length: number): bigint => address.bits >> BigInt(widthOf(address) - length);

const contains = ({ address, length }: CidrValue, other: IpValue): boolean =>
  address.family === other.family && prefixOf(address, length) === prefixOf(other, length);

const masked = ({ address, length }: CidrValue): CidrValue => {
  const rest = BigInt(widthOf(address) - length);
  return new CidrValue(new IpValue(address.family, (address.bits >> rest) << rest), length);
};

const cidrText = ({ address, length }: CidrValue): string => `${ipText(address)}/${length}`;

const isWithin = (address: IpValue, v4: string, v6: string): boolean =>
  [v4, v6].some((network) => contains(parseCidr(network) as CidrValue, address));

const isLoopback = (address: IpValue): boolean => isWithin(address, '127.0.0.0/8', '::1/128');
const isLinkLocal = (address: IpValue): boolean => isWithin(address, '169.254.0.0/16', 'fe80::/10');
/** Whatever the flags in the third digit of IPv6. */
const isLinkLocalMulticast = (address: IpValue): boolean =>
  address.family === 4 ? isWithin(address, '224.0.0.0/24', '::/128') : ((address.bits >> 112n) & 0xff0fn) === 0xff02n;

const isGlobalUnicast = (address: IpValue): boolean =>
  !(
    address.bits === 0n ||
    (address.family === 4 && address.bits === 0xffff_ffffn) ||
    isLoopback(address) ||
    isLinkLocal(address) ||
    isWithin(address, '224.0.0.0/4', 'ff00::/8')
  );

function ipValue(text: string): IpValue {
  const address = parseIp(text);
  if (address === undefined)
    throw new EvaluationError(`IP Address "${text}" parse error during conversion from string`);
  return address;
}

function cidrValue(text: string): CidrValue {
  const network = parseCidr(text);
  if (network === undefined)
    throw new EvaluationError(`network address parse error during conversion from string: ${text}`);
  return network;
}

const sameIp = (left: IpValue, right: IpValue): boolean => left.family === right.family && left.bits === right.bits;

function registerCidrs(env: Environment): void {
  const containsCidr = (outer: CidrValue, inner: CidrValue): boolean =>
    outer.length <= inner.length && contains(outer, inner.address);
  env
    .registerType('CIDR', CidrValue)
    .registerFunction('cidr(string): CIDR', cidrValue)
    .registerFunction('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined)
    .registerFunction('CIDR.containsIP(IP): bool', contains)
    .registerFunction('CIDR.containsIP(string): bool', (network: CidrValue, text: string) =>
      contains(network, ipValue(text)),
    )
    .registerFunction('CIDR.containsCIDR(CIDR): bool', containsCidr)
    .registerFunction('CIDR.containsCIDR(string): bool', (network: CidrValue, text: string) =>
      containsCidr(network, cidrValue(text)),
    )
    .registerFunction('CIDR.ip(): IP', ({ address }: CidrValue) => address)
    .registerFunction('CIDR.masked(): CIDR', masked)
    .registerFunction('CIDR.prefixLength(): int', ({ length }: CidrValue) => BigInt(length))
    .registerFunction('string(CIDR): string', cidrText)
    .registerOperator(
      'CIDR == CIDR',
      (left: CidrValue, right: CidrValue) => left.length === right.length && sameIp(left.address, right.address),
    );
}

export function registerAddresses(env: Environment): void {
  env
    .registerType('IP', IpValue)
    .registerType('IpNamespace', IpNamespace)
    .registerConstant('ip', 'IpNamespace', new IpNamespace())
    .registerFunction('ip(string): IP', ipValue)
    .registerFunction('isIP(string): bool', (text: string) => parseIp(text) !== undefined)
    .registerFunction(
      'IpNamespace.isCanonical(string): bool',
      (_: unknown, text: string) => ipText(ipValue(text)) === text,
    )
    .registerFunction('IP.family(): int', ({ family }: IpValue) => BigInt(family))
    .registerFunction('IP.isUnspecified(): bool', ({ bits }: IpValue) => bits === 0n)
    .registerFunction('IP.isLoopback(): bool', isLoopback)
    .registerFunction('IP.isLinkLocalMulticast(): bool', isLinkLocalMulticast)
    .registerFunction('IP.isLinkLocalUnicast(): bool', isLinkLocal)
    .registerFunction('IP.isGlobalUnicast(): bool', isGlobalUnicast)
    .registerFunction('string(IP): string', ipText)
    .registerOperator('IP == IP', sameIp);
  registerCidrs(env);
}
