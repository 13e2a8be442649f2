// The cluster's Kubernetes version, which decides about images: from the API server, or from EKS where asked. Kept while a
// later look-up fails: a version changes once in months.
import { KerfError } from '../../base/index.ts';
import type { Log } from '../../ports/index.ts';

const supported = { oldest: 26, newest: 37 };

export class KubernetesVersion {
  private readonly ask: () => Promise<string>;
  private readonly log: Log;
  private known: string | undefined;
  private complainedAbout: string | undefined;

  /** `ask` answers `1.33`, with any suffix. */
  constructor(ask: () => Promise<string>, log: Log) {
    this.ask = ask;
    this.log = log;
  }

  /** `1.33`. */
  get current(): string {
    if (this.known === undefined) throw new KerfError('VersionUnknown', 'the Kubernetes version is not known yet');
    return this.known;
  }

  async refresh(): Promise<void> {
    const answer = await this.ask();
    const match = /^v?(\d+)\.(\d+)/.exec(answer);
    if (match === null) throw new KerfError('VersionUnknown', `"${answer}" is not a Kubernetes version`);
    const version = `${match[1]}.${match[2]}`;
    if (version !== this.known) this.log.debug('discovered kubernetes version', { version });
    this.known = version;
    const minor = Number(match[2]);
    const isSupported = match[1] === '1' && minor >= supported.oldest && minor <= supported.newest;
    if (isSupported || this.complainedAbout === version) return;
    this.complainedAbout = version;
    this.log.error(
      'kubernetes version is not supported',
      `${version} is not between 1.${supported.oldest} and 1.${supported.newest}`,
      { version },
    );
  }
}
