// Who we are to the API server, request by request. Credentials change while the process runs (projected tokens rotate,
// certificates are renewed, plugins hand out short-lived ones), so they are asked for on every call and cached here.
import { readFile } from 'node:fs/promises';
import { type Clock, KerfError, messageOf } from '../base/index.ts';

export interface ClientCertificate {
  certificate: string;
  key: string;
}

export interface Credentials {
  /** Headers of the next request. */
  headers(): Promise<Record<string, string | string[]>>;
  /** The client certificate; an equal one is the same object, so a change is seen by identity. */
  certificate(): Promise<ClientCertificate | undefined>;
  /** The server said 401. Drops what is cached; true if asking again may give something else. */
  rejected(): boolean;
}

/** How long file contents are trusted. The kubelet rotates projected tokens long before they expire. */
const rereadAfterMs = 60_000;

/** A file whose content may change. A read that fails later on keeps the last good content. */
export class WatchedFile {
  readonly path: string;
  private readonly clock: Clock;
  private content: string | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock) {
    this.path = path;
    this.clock = clock;
  }

  async read(): Promise<string> {
    if (this.content !== undefined && this.clock.elapsed() - this.readAtMs < rereadAfterMs) return this.content;
    try {
      this.content = await readFile(this.path, 'utf8');
    } catch (thrown) {
      if (this.content === undefined) {
        const isAbsent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
        const why = isAbsent ? 'there is no such file' : messageOf(thrown);
        throw new KerfError('CredentialsUnreadable', `cannot read ${this.path}: ${why}`, {
          subject: this.path,
          retryable: true,
          cause: thrown,
        });
      }
    }
    this.readAtMs = this.clock.elapsed();
    return this.content;
  }

  forget(): void {
    this.readAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** Text that is given, or read from a file that may change. */
export type Source = string | WatchedFile;

const textOf = (source: Source): Promise<string> | string => (typeof source === 'string' ? source : source.read());

export type Authorization =
  | { kind: 'none' }
  | { kind: 'token'; token: Source }
  | { kind: 'basic'; username: string; password: string };

/** Credentials that stand in a kubeconfig or in files it names. */
export class StoredCredentials implements Credentials {
  private readonly authorization: Authorization;
  private readonly certificateSource: { certificate: Source; key: Source } | undefined;
  private readonly extraHeaders: Record<string, string | string[]>;
  private lastCertificate: ClientCertificate | undefined;

  constructor(
    authorization: Authorization,
    certificate?: { certificate: Source; key: Source },
    extraHeaders: Record<string, string | string[]> = {},
  ) {
    this.authorization = authorization;
    this.certificateSource = certificate;
    this.extraHeaders = extraHeaders;
  }

  async headers(): Promise<Record<string, string | string[]>> {
    const { authorization } = this;
    if (authorization.kind === 'none') return this.extraHeaders;
    const value =
      authorization.kind === 'token'
        ? `Bearer ${(await textOf(authorization.token)).trim()}`
        : `Basic ${Buffer.from(`${authorization.username}:${authorization.password}`).toString('base64')}`;
    return { ...this.extraHeaders, authorization: value };
  }

  async certificate(): Promise<ClientCertificate | undefined> {
    if (this.certificateSource === undefined) return undefined;
    const certificate = await textOf(this.certificateSource.certificate);
    const key = await textOf(this.certificateSource.key);
    const last = this.lastCertificate;
    if (last?.certificate !== certificate || last.key !== key) this.lastCertificate = { certificate, key };
    return this.lastCertificate;
  }

  rejected(): boolean {
    const files = [
      this.authorization.kind === 'token' ? this.authorization.token : '',
      this.certificateSource?.certificate ?? '',
      this.certificateSource?.key ?? '',
    ].filter((source) => source instanceof WatchedFile);
    for (const file of files) file.forget();
    return files.length > 0;
  }
}
