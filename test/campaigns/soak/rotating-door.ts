// The way to an ApiDoor as a long-lived cluster has it: TLS by an authority that is replaced from time to time, and tokens
// that are valid only for a while. Files are replaced as the kubelet does for a pod; who does not read them again is locked out.
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CertificateAuthority } from '../../setup/control-plane/certificates.ts';

const names = ['127.0.0.1', 'localhost'];

export class RotatingDoor {
  readonly kubeconfig: string;
  tokens = 0;
  authorities = 0;
  /** Requests with a token that is no longer, or was never, valid. */
  refused = 0;
  private readonly folder: string;
  private readonly server: Server;
  private readonly onward: { url: string; token: string };
  private valid: string[] = [];
  private authority: CertificateAuthority;

  private constructor(folder: string, onward: { url: string; token: string }) {
    this.folder = folder;
    this.onward = onward;
    this.kubeconfig = join(folder, 'rotating-kubeconfig');
    this.authority = new CertificateAuthority('first');
    const { certPem, keyPem } = this.authority.issue({ commonName: 'door', names });
    this.server = createServer({ cert: certPem, key: keyPem }, (from, to) => this.pass(from, to));
  }

  static async open(folder: string, onward: { url: string; token: string }): Promise<RotatingDoor> {
    const door = new RotatingDoor(folder, onward);
    await new Promise<void>((resolve) => door.server.listen(0, '127.0.0.1', () => resolve()));
    door.replaceFile('ca.crt', door.authority.certPem);
    door.rotateToken();
    const named = { name: 'door' };
    const server = `https://127.0.0.1:${(door.server.address() as AddressInfo).port}`;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...named, cluster: { server, 'certificate-authority': join(folder, 'ca.crt') } }],
      users: [{ ...named, user: { tokenFile: join(folder, 'token') } }],
      contexts: [{ ...named, context: { cluster: 'door', user: 'door' } }],
      'current-context': 'door',
    };
    writeFileSync(door.kubeconfig, JSON.stringify(config), { mode: 0o600 });
    return door;
  }

  /** The last two tokens are valid: a pod has time to read the new one. */
  rotateToken(): void {
    const token = randomUUID();
    this.valid = [...this.valid.slice(-1), token];
    this.tokens += 1;
    this.replaceFile('token', token);
  }

  /** Both authorities are trusted first, as a careful administrator does it; then the old one is gone. */
  async rotateAuthority(overlapMs: number): Promise<void> {
    const old = this.authority;
    this.authority = new CertificateAuthority(`authority ${(this.authorities += 1)}`);
    this.replaceFile('ca.crt', `${old.certPem}\n${this.authority.certPem}`);
    await new Promise((resolve) => setTimeout(resolve, overlapMs));
    const { certPem, keyPem } = this.authority.issue({ commonName: 'door', names });
    this.server.setSecureContext({ cert: certPem, key: keyPem });
    this.replaceFile('ca.crt', this.authority.certPem);
    // Whoever is connected comes back and meets the new certificate.
    this.server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private replaceFile(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  private pass(from: IncomingMessage, to: ServerResponse): void {
    const token = from.headers.authorization?.replace('Bearer ', '') ?? '';
    if (!this.valid.includes(token)) {
      this.refused += 1;
      const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 };
      to.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const headers = { ...from.headers, authorization: `Bearer ${this.onward.token}` };
    const onward = request(new URL(from.url ?? '/', this.onward.url), { method: from.method ?? 'GET', headers });
    onward.on('error', () => to.destroy());
    onward.on('response', (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => to.destroy());
      answer.pipe(to);
    });
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  }
}
