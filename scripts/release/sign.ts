// Signs a release with cosign and a key of the publisher: the checksums cover every other file, so one signature is enough.
// Two files come out: the bundle that cosign verifies, and the bare signature for those who have only OpenSSL.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Signing {
  /** A file, or the address of one in a key service, as cosign takes it. */
  key: string;
  /** Record the signature in the public log of Sigstore, as cosign does by itself. */
  isLogged: boolean;
  program?: string;
}

/** No service at all: a signature with a key needs none, and a release is published by its publisher alone. */
const noServices = {
  mediaType: 'application/vnd.dev.sigstore.signingconfig.v0.2+json',
  rekorTlogConfig: {},
  tsaConfig: {},
};

/** Throws with what cosign said. */
export function sign(file: string, { key, isLogged, program = 'cosign' }: Signing): void {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-sign-'));
  const bundle = `${file}.sigstore.json`;
  try {
    const services = join(folder, 'services.json');
    writeFileSync(services, JSON.stringify(noServices));
    const args = ['sign-blob', '--yes', '--key', key, '--bundle', bundle];
    const ownServices = isLogged ? [] : ['--signing-config', services];
    const { status, error, stderr } = spawnSync(program, [...args, ...ownServices, file], {
      encoding: 'utf8',
      // A prompt for the key's password.
      stdio: ['inherit', 'ignore', 'pipe'],
    });
    if (status !== 0)
      throw new Error(
        `cannot sign ${file} with ${program} (cosign 3 or newer): ${error?.message ?? stderr.trim().split('\n').at(-1) ?? `ended with ${status}`}`,
      );
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { messageSignature } = JSON.parse(readFileSync(bundle, 'utf8')) as {
    messageSignature: { signature: string };
  };
  writeFileSync(`${file}.sig`, Buffer.from(messageSignature.signature, 'base64'));
}
