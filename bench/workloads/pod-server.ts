// A program that serves pods as an API server does, so that a benchmark's own process holds nothing but what it measures.
// `pod-server.ts <count> [<pods per workload>]` prints its port. A watch streams `count` pods and an end mark; `?burst=n` in the label selector
// makes it go on with n MODIFIED events as fast as they are read.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { podJson, usualPodsPerWorkload } from './pod-json.ts';

const count = Number(process.argv[2] ?? 1000);
const podsPerWorkload = Number(process.argv[3] ?? usualPodsPerWorkload);

/** Writes with back-pressure, in pieces large enough that the kernel is not the bottleneck. */
async function write(response: ServerResponse, lines: Iterable<string>): Promise<void> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < 256 * 1024) continue;
    if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
    piece = '';
  }
  response.write(piece);
}

function* events(type: string, total: number, firstVersion: number): Generator<string> {
  for (let index = 0; index < total; index++) {
    yield `{"type":"${type}","object":${podJson(index % count, firstVersion + index, podsPerWorkload)}}\n`;
  }
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://bench');
  const burst = Number(/burst=(\d+)/.exec(url.searchParams.get('labelSelector') ?? '')?.[1] ?? 0);
  void (async () => {
    const mark = (version: number, end: boolean): string =>
      `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${version}","annotations":{"k8s.io/initial-events-end":"${end}"}}}}\n`;
    if (url.searchParams.get('sendInitialEvents') === 'true') await write(response, events('ADDED', count, 1000));
    await write(response, [mark(1000 + count, true)]);
    await write(response, events('MODIFIED', burst, 1001 + count));
    if (burst > 0) response.end();
  })();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit());
