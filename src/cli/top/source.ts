// Where `kerf top` reads: a live cluster, a snapshot, or a dashboard that runs. All come to the same rows.
import { KerfError, messageOf, parseTime } from '../../base/index.ts';
import { type ClusterView, shownFrom, type ViewModel } from '../../view/index.ts';
import type { Terminal } from '../command.ts';
import { progressLine } from '../output/index.ts';
import { version } from '../version.ts';
import type { Seen } from './picture.ts';

export interface Source {
  read(): Promise<Seen>;
  /** A document of the dashboard's API, by its path. */
  document(path: string): Promise<object>;
  close(): Promise<void>;
}

export interface SourceFlags {
  context?: string | true;
  kubeconfig?: string;
  snapshot?: string;
  url?: string;
}

const deadlineMs = 10_000;

export async function openSource(terminal: Terminal, flags: SourceFlags, signal: AbortSignal): Promise<Source> {
  if (flags.url !== undefined) return fromDashboard(flags.url);
  if (flags.snapshot !== undefined) return fromSnapshot(terminal, flags.snapshot);
  const [{ lookFromOutside }, { documentAt }] = await Promise.all([
    import('../dashboard/outside.ts'),
    import('../../server/index.ts'),
  ]);
  const { live, run, server, context, decisions, notVisible } = await lookFromOutside({ ...flags, env: terminal.env });
  const running = run(signal).catch(() => undefined);
  const stop = live.watch(() => undefined);
  const cluster = typeof flags.context === 'string' ? flags.context : new URL(server).host;
  while (!context.cluster.synced && !signal.aborted) await context.clock.sleep(50);
  await live.judged();
  const info = { mode: 'outside' as const, cluster, build: version, notVisible };
  const parts = { context, live, decisions, info };
  return {
    async read() {
      await live.ready();
      return seenIn(live.model.list(live.now()), cluster);
    },
    document: (path) => documentAt(parts, path.split('/').map(decodeURIComponent)),
    async close() {
      stop();
      await running;
    },
  };
}

function seenIn(view: ClusterView, cluster: string): Seen {
  const { nodes, totals } = shownFrom(view);
  const bare = [...nodes.values()].map(({ key: _key, ...row }) => row);
  return { cluster, time: view.time, nowMs: parseTime(view.time) ?? 0, totals, nodes: bare };
}

function fromDashboard(address: string): Source {
  const get = async <T>(path: string): Promise<T> => {
    try {
      const response = await fetch(new URL(`kerf/v1/${path}`, address.endsWith('/') ? address : `${address}/`), {
        signal: AbortSignal.timeout(deadlineMs),
      });
      const body = (await response.json()) as T & { message?: string };
      if (!response.ok) throw new Error(body.message ?? `it answers ${response.status}`);
      return body;
    } catch (error) {
      const why = `cannot read the dashboard at ${address}: ${messageOf(error)}; give the address it printed`;
      throw new KerfError('DashboardUnreadable', why, { cause: error });
    }
  };
  let cluster: string | undefined;
  return {
    async read() {
      cluster ??= (await get<{ cluster: string }>('info')).cluster;
      return seenIn(await get<ClusterView>('nodes'), cluster);
    },
    document: (path) => get<object>(path),
    close: async () => undefined,
  };
}

async function fromSnapshot(terminal: Terminal, file: string): Promise<Source> {
  const [{ loadSnapshot, deviceSelectors }, { modelOf }] = await Promise.all([
    import('../plan/plan.ts'),
    import('./snapshot-model.ts'),
  ]);
  const progress = progressLine(terminal);
  const snapshot = await loadSnapshot(terminal, { snapshot: file, improve: true, output: 'json' }, [], progress);
  progress.clear();
  const model: ViewModel = modelOf(snapshot, await deviceSelectors(snapshot));
  const seen = seenIn(model.list(snapshot.time ?? ''), snapshot.name ?? file);
  return {
    read: async () => seen,
    document: () =>
      Promise.reject(new KerfError('FlagsInvalid', 'a snapshot is printed once; `kerf explain` answers more')),
    close: async () => undefined,
  };
}
