// Certificates for one run: an authority, and what it signs for servers and users. node:crypto signs but does not write
// X.509, so the few structures needed are encoded here (RFC 5280, DER, ECDSA P-256). Go's and OpenSSL's strict checks
// accept them; keys never leave the run's temporary folder.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Certificate {
  certPem: string;
  keyPem: string;
}

export interface CertificateRequest {
  commonName: string;
  /** Kubernetes reads these as groups. */
  organizations?: string[];
  /** DNS names and IPv4 addresses; a certificate with names is for a server, one without for a user. */
  names?: string[];
}

const validDays = 7;

export class CertificateAuthority {
  readonly certPem: string;
  private readonly key: KeyObject;
  private readonly keyId: Buffer;
  private readonly name: Buffer;

  constructor(commonName: string) {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.key = keys.privateKey;
    this.name = distinguishedName(commonName, []);
    this.keyId = keyIdOf(keys.publicKey);
    this.certPem = this.sign(this.name, keys.publicKey, [
      extension(oid.basicConstraints, sequence(boolean(true)), true),
      extension(oid.keyUsage, bits(0b0000_0110, 1), true),
    ]);
  }

  issue({ commonName, organizations = [], names = [] }: CertificateRequest): Certificate {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const purpose = names.length > 0 ? oid.serverAuth : oid.clientAuth;
    const extensions = [
      extension(oid.basicConstraints, sequence(), true),
      extension(oid.keyUsage, bits(0b1000_0000, 7), true),
      extension(oid.extendedKeyUsage, sequence(objectId(purpose))),
      extension(oid.authorityKeyId, sequence(tagged(0x80, this.keyId))),
    ];
    if (names.length > 0) extensions.push(extension(oid.alternativeNames, sequence(...names.map(alternativeName))));
    return {
      certPem: this.sign(distinguishedName(commonName, organizations), keys.publicKey, extensions),
      keyPem: keys.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    };
  }

  private sign(subject: Buffer, publicKey: KeyObject, extensions: Buffer[]): string {
    const algorithm = sequence(objectId(oid.ecdsaWithSha256));
    const now = Date.now();
    // An hour back: the clock of a container and of its host may disagree a little.
    const validity = sequence(utcTime(now - 3_600_000), utcTime(now + validDays * 86_400_000));
    const body = sequence(
      tagged(0xa0, integer(Buffer.from([2]))),
      integer(serialNumber()),
      algorithm,
      this.name,
      validity,
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions, extension(oid.subjectKeyId, tagged(0x04, keyIdOf(publicKey))))),
    );
    const signature = sign('sha256', body, { key: this.key, dsaEncoding: 'der' });
    return pem(sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature]))));
  }
}

const oid = {
  commonName: [2, 5, 4, 3],
  organization: [2, 5, 4, 10],
  subjectKeyId: [2, 5, 29, 14],
  keyUsage: [2, 5, 29, 15],
  alternativeNames: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  authorityKeyId: [2, 5, 29, 35],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  clientAuth: [1, 3, 6, 1, 5, 5, 7, 3, 2],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
} as const;

function tagged(tag: number, content: Buffer): Buffer {
  const length = content.length;
  const header =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

function sequence(...items: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

/** Of bytes that do not start with a one bit, which would be read as a sign. */
function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

/** Random, positive and without a leading zero byte, which strict readers refuse. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bits(value: number, unused: number): Buffer {
  return tagged(0x03, Buffer.from([unused, value]));
}

function objectId([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function extension(id: readonly number[], value: Buffer, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), tagged(0x04, value));
}

function alternativeName(name: string): Buffer {
  if (isIPv4(name)) return tagged(0x87, Buffer.from(name.split('.').map(Number)));
  return tagged(0x82, Buffer.from(name, 'ascii'));
}

function distinguishedName(commonName: string, organizations: string[]): Buffer {
  const part = (id: readonly number[], text: string): Buffer =>
    tagged(0x31, sequence(objectId(id), tagged(0x0c, Buffer.from(text, 'utf8'))));
  return sequence(...organizations.map((name) => part(oid.organization, name)), part(oid.commonName, commonName));
}

/** The two-digit year of UTCTime is right until 2049. */
function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
