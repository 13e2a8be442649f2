// What `--enable-profiling` serves under /debug/pprof/: profiles of this process under the names operators know. Their
// format is V8's own (open .cpuprofile and .heapprofile in any Chrome or in an editor): a Go profile would have nothing
// to say about this runtime. Sampling the heap begins with the process, so that asking for it costs nothing.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const prefix = '/debug/pprof/';
const defaultSeconds = 30;
const mostSeconds = 300;

interface Page {
  meaning: string;
  contentType: string;
  fileName?: string;
  /** Undefined while someone else is being served. */
  read(seconds: number): string | Promise<string | undefined>;
}

export interface Profiler {
  /** Answers if the path is one of its own. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  close(): void;
}

export async function startProfiler(): Promise<Profiler> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling');
  const heap = async (): Promise<string> =>
    JSON.stringify((await session.post('HeapProfiler.getSamplingProfile')).profile);
  const json = 'application/json';
  const pages: Record<string, Page> = {
    cmdline: {
      meaning: 'how this process was started',
      contentType: 'text/plain',
      read: () => process.argv.join('\0'),
    },
    profile: {
      meaning: `where time is spent, over ?seconds=${defaultSeconds}`,
      contentType: json,
      fileName: 'kerf.cpuprofile',
      read: cpuProfiler(session),
    },
    heap: { meaning: 'who holds memory, sampled', contentType: json, fileName: 'kerf.heapprofile', read: heap },
    allocs: { meaning: 'the same as heap', contentType: json, fileName: 'kerf.heapprofile', read: heap },
    goroutine: {
      meaning: 'what keeps the event loop awake',
      contentType: 'text/plain',
      read: () => countsOf(process.getActiveResourcesInfo()),
    },
  };
  return {
    async answer(request, response) {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (!url.pathname.startsWith(prefix)) return false;
      const name = url.pathname.slice(prefix.length);
      if (name === '') {
        const lines = Object.entries(pages).map(([each, { meaning }]) => `${prefix}${each}\t${meaning}\n`);
        response.writeHead(200, { 'content-type': 'text/plain' }).end(lines.join(''));
        return true;
      }
      const page = pages[name];
      if (page === undefined) {
        const known = Object.keys(pages).join(', ');
        response.writeHead(404).end(`this runtime has no ${name} profile; there are ${known}\n`);
        return true;
      }
      const asked = Number(url.searchParams.get('seconds'));
      const seconds = asked > 0 ? Math.min(mostSeconds, asked) : defaultSeconds;
      const text = await page.read(seconds);
      if (text === undefined) {
        response.writeHead(409).end(`a ${name} is being taken for another client; ask again when it is over\n`);
        return true;
      }
      const { contentType, fileName } = page;
      const disposition = fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` };
      response.writeHead(200, { 'content-type': contentType, ...disposition }).end(text);
      return true;
    },
    close: () => session.disconnect(),
  };
}

/** One at a time: a process has one profiler, and V8 ends a process that stops it twice. Who asks meanwhile is refused. */
function cpuProfiler(session: Session): (seconds: number) => Promise<string | undefined> {
  let isBusy = false;
  return async (seconds) => {
    if (isBusy) return undefined;
    isBusy = true;
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await sleep(seconds * 1000, undefined, { ref: false });
      return JSON.stringify((await session.post('Profiler.stop')).profile);
    } finally {
      isBusy = false;
    }
  };
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count}\t${name}\n`).join('');
}
