// Credentials from a program, as kubeconfig's `exec` describes: client.authentication.k8s.io v1 and v1beta1. The program
// gets KUBERNETES_EXEC_INFO in its environment and prints an ExecCredential.
//
// Promises: one run at a time, shared by all callers; its answer is kept until its expirationTimestamp (or until the
// server says 401); a terminal is lent only when the entry allows it and there is one.
import { spawn } from 'node:child_process';
import { type Clock, KerfError, messageOf, parseTime } from '../base/index.ts';
import type { ClientCertificate, Credentials } from './credentials.ts';
import type { ExecEntry } from './kubeconfig-file.ts';

/** What plugins learn about the cluster when they ask (`provideClusterInfo`), as in the ExecCredential API. */
export interface ExecClusterInfo {
  server: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'certificate-authority-data'?: string;
  'proxy-url'?: string;
  config?: unknown;
}

export interface ExecPluginOptions {
  entry: ExecEntry;
  user: string;
  cluster: ExecClusterInfo;
  clock: Clock;
  env: Record<string, string | undefined>;
  /** Standard input is a terminal a person can answer at. */
  isTerminal: boolean;
  extraHeaders?: Record<string, string | string[]>;
}

interface Issued {
  token: string | undefined;
  certificate: ClientCertificate | undefined;
  expiresAtMs: number;
}

/** A plugin that no one can answer must end by itself; one that asks a person may take as long as the person. */
const silentTimeoutMs = 60_000;

export class ExecCredentials implements Credentials {
  private readonly options: ExecPluginOptions;
  private issued: Issued | undefined;
  private running: Promise<Issued> | undefined;

  constructor(options: ExecPluginOptions) {
    this.options = options;
  }

  async headers(): Promise<Record<string, string | string[]>> {
    const { token } = await this.current();
    return { ...this.options.extraHeaders, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  }

  async certificate(): Promise<ClientCertificate | undefined> {
    return (await this.current()).certificate;
  }

  rejected(): boolean {
    this.issued = undefined;
    return true;
  }

  private async current(): Promise<Issued> {
    if (this.issued !== undefined && this.options.clock.now() < this.issued.expiresAtMs) return this.issued;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<Issued> {
    const { entry, isTerminal } = this.options;
    if (entry.interactiveMode === 'Always' && !isTerminal) {
      throw this.failure('it needs a terminal (interactiveMode: Always) and standard input is none');
    }
    const interactive = isTerminal && entry.interactiveMode !== 'Never';
    const issued = this.read(await this.output(interactive));
    const { certificate } = issued;
    const last = this.issued?.certificate;
    // The same certificate again must not cost new connections.
    const same = certificate && last && certificate.certificate === last.certificate && certificate.key === last.key;
    this.issued = same ? { ...issued, certificate: last } : issued;
    return this.issued;
  }

  private output(interactive: boolean): Promise<string> {
    const { entry, env, cluster, clock } = this.options;
    const info = {
      apiVersion: entry.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive, ...(entry.provideClusterInfo ? { cluster } : {}) },
    };
    return new Promise((resolve, reject) => {
      const child = spawn(entry.command, entry.args, {
        env: { ...env, ...entry.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
        stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      });
      const timer = interactive
        ? undefined
        : clock.after(silentTimeoutMs, () => {
            child.kill('SIGKILL');
            reject(this.failure(`it printed nothing within ${silentTimeoutMs / 1000} s`));
          });
      const chunks: Buffer[] = [];
      child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
      child.on('error', (error: NodeJS.ErrnoException) => {
        timer?.dispose();
        const hint = entry.installHint === undefined ? '' : `\n${entry.installHint}`;
        reject(
          this.failure(
            error.code === 'ENOENT'
              ? `the program was not found; install it or correct the path${hint}`
              : error.message,
            error,
          ),
        );
      });
      child.on('close', (code, signal) => {
        timer?.dispose();
        if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(this.failure(code === null ? `it was ended by ${signal}` : `it ended with code ${code}`));
      });
    });
  }

  private read(output: string): Issued {
    let answer: {
      apiVersion?: unknown;
      kind?: unknown;
      status?: Record<'token' | 'clientCertificateData' | 'clientKeyData' | 'expirationTimestamp', unknown>;
    };
    try {
      answer = JSON.parse(output);
    } catch (thrown) {
      throw this.failure(`its output is not JSON: ${messageOf(thrown)}`, thrown);
    }
    if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== this.options.entry.apiVersion) {
      const got = `${String(answer?.kind)} ${String(answer?.apiVersion)}`;
      throw this.failure(`it printed ${got} where ExecCredential ${this.options.entry.apiVersion} was expected`);
    }
    const field = (name: keyof NonNullable<typeof answer.status>): string | undefined => {
      const value = answer.status?.[name];
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    const token = field('token');
    const certificate = field('clientCertificateData');
    const key = field('clientKeyData');
    if ((certificate === undefined) !== (key === undefined)) {
      throw this.failure('it printed only one of status.clientCertificateData and status.clientKeyData');
    }
    if (token === undefined && certificate === undefined) {
      throw this.failure('it printed neither status.token nor status.clientCertificateData');
    }
    const expiration = field('expirationTimestamp');
    const expiresAtMs = expiration === undefined ? Number.POSITIVE_INFINITY : parseTime(expiration);
    if (expiresAtMs === undefined)
      throw this.failure(`status.expirationTimestamp "${expiration}" is not an RFC 3339 time`);
    return {
      token,
      certificate: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
      expiresAtMs,
    };
  }

  private failure(problem: string, cause?: unknown): KerfError {
    const { entry, user } = this.options;
    return new KerfError(
      'CredentialPluginFailed',
      `cannot get credentials of kubeconfig user "${user}" from ${entry.command}: ${problem}`,
      { subject: entry.command, retryable: true, cause },
    );
  }
}
