// The report of a shadow, wherever it is: asked of its process through the API server's proxy, at an address, or read from a file.
import { readFile } from 'node:fs/promises';
import { KerfError, messageOf } from '../../base/index.ts';
import { findAccess, KubeClient } from '../../kube/index.ts';
import type { ShadowReport } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import type { Terminal } from '../command.ts';
import { version } from '../version.ts';

export interface ShadowSource {
  /** An address or a file; otherwise the Service of the shadow is asked. */
  from?: string;
  namespace: string;
  service: string;
  kubeconfig?: string;
  context?: string;
}

/** Where the chart puts it, as docs/guide/switch.md says. */
export const usualShadow = { namespace: 'kube-system', service: 'kerf-shadow' } as const;

export async function readShadowReport(terminal: Terminal, source: ShadowSource): Promise<ShadowReport> {
  const { from, service, namespace } = source;
  const found = from === undefined ? await askCluster(terminal, source) : await readFrom(from);
  const { kind } = (found ?? {}) as { kind?: string };
  if (kind === 'ShadowReport') return found as ShadowReport;
  const where = from ?? `service ${service} in ${namespace}`;
  throw new KerfError('ShadowReportInvalid', `${where} is not a report of a shadow (kind ${kind ?? 'missing'})`);
}

async function readFrom(from: string): Promise<unknown> {
  try {
    if (!/^https?:\/\//.test(from)) return JSON.parse(await readFile(from, 'utf8'));
    const answer = await fetch(from, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}; is that process a shadow?`);
    return await answer.json();
  } catch (cause) {
    throw new KerfError('ShadowReportUnreadable', `cannot read the report from ${from}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function askCluster(
  { env }: Terminal,
  { kubeconfig, context, namespace, service }: ShadowSource,
): Promise<unknown> {
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const client = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 5, burst: 5 } });
  try {
    return await client.throughService({ name: service, namespace }, 'http-metrics', '/shadow');
  } catch (cause) {
    throw new KerfError(
      'ShadowUnreachable',
      `cannot ask the shadow behind service ${namespace}/${service}: ${messageOf(cause)}; name it with --namespace and --service, or its page with --from`,
      { cause },
    );
  } finally {
    await client.close();
  }
}
