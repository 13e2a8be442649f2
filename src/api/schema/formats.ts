// The string formats an API server checks in CustomResourceDefinitions. A format it does not know is not checked.
import { parseGoDuration, parseTime } from '../../base/index.ts';

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${octet}([.]${octet}){3}$`);
const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z0-9-\p{L}]){2,63})$/u;
/** The empty text is none, as the API server has it. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;
/** Beside Go's durations, the API server takes numbers with days, weeks and spelt-out units. */
const spelt =
  /^\s*(\d+\s*(ns|nano|nanosecond|us|µs|micro|microsecond|ms|milli|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day|w|wk|week)s?\s*)+$/i;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  let count = groups.length;
  const last = groups.at(-1);
  if (last !== undefined && ipv4.test(last)) {
    groups.pop();
    count += 1;
  }
  return groups.every((part) => /^[0-9a-f]{1,4}$/i.test(part)) && (halves.length === 2 ? count < 8 : count === 8);
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^[0-9]{1,3}$/.test(bits)) return false;
  return ipv4.test(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
}

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => parseTime(text) !== undefined,
  date: (text) => parseTime(`${text}T00:00:00Z`) !== undefined,
  duration: (text) => parseGoDuration(text) !== undefined || spelt.test(text),
  ipv4: (text) => ipv4.test(text),
  ipv6: isIpv6,
  cidr: isCidr,
  uuid: (text) => uuid.test(text),
  byte: (text) => base64.test(text),
  hostname: (text) => text.length <= 253 && hostname.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => /^([a-z][a-z0-9+.-]*:|\/)/i.test(text),
};

/** Formats the API server knows but that say nothing about a text, or that no one has used in a schema of this project. */
const unchecked = new Set(
  (
    'int32 int64 float double password datetime bsonobjectid mac uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn ' +
    'hexcolor rgbcolor k8s-short-name k8s-long-name'
  ).split(' '),
);

/** A format that is unknown counts as none. */
export const isKnownFormat = (format: string | undefined): format is string =>
  format !== undefined && (Object.hasOwn(checks, format) || unchecked.has(format));

/** False only if the format is known and the text is not of it. */
export function matchesFormat(format: string, text: string): boolean {
  return checks[format]?.(text) ?? true;
}
