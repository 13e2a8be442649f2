// Values of SSM parameters, kept for long: Amazon's names for images change rarely, and every class asks for five.
import { GetParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { type Clock, ExpiringMap } from '../../base/index.ts';
import { isAwsNotFound } from '../aws-errors.ts';

/** What may be believed how long: a pinned name never changes, a `latest` one does, a user's own may at any time. */
export type ParameterKind = 'pinned' | 'latest' | 'custom';

const dayMs = 24 * 3_600_000;
const ttlMs: Readonly<Record<ParameterKind, number>> = { pinned: dayMs, latest: dayMs, custom: 5 * 60_000 };

export class Parameters {
  private readonly ssm: SSMClient;
  private readonly values: ExpiringMap<string, { value: string; kind: ParameterKind }>;

  constructor({ ssm, clock }: { ssm: SSMClient; clock: Clock }) {
    this.ssm = ssm;
    this.values = new ExpiringMap(clock, dayMs);
  }

  /** Undefined if there is no such parameter. Any other refusal is thrown. */
  async get(name: string, kind: ParameterKind): Promise<string | undefined> {
    const known = this.values.get(name);
    if (known !== undefined) return known.value;
    try {
      const { Parameter: parameter } = await this.ssm.send(new GetParameterCommand({ Name: name }));
      const value = parameter?.Value;
      if (value !== undefined) this.values.set(name, { value, kind }, ttlMs[kind]);
      return value;
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Values that Amazon may have changed since they were read. */
  latest(): { name: string; value: string }[] {
    return this.values
      .entries()
      .filter(([, { kind }]) => kind === 'latest')
      .map(([name, { value }]) => ({ name, value }));
  }

  forget(name: string): void {
    this.values.delete(name);
  }
}
