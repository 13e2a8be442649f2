// An AWS account for one test: moto server behind the proxy that makes it behave like EC2 where that matters
// (test/setup/aws). On loopback with free ports; whatever happens to the process that started it, nothing is left behind.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { EmulatorControl } from './aws/control.ts';
import { provideMoto } from './aws/moto.ts';
import { createProxy } from './aws/proxy.ts';
import { Upstream } from './aws/upstream.ts';
import { World } from './aws/world.ts';
import { freePort } from './free-port.ts';
import { Supervisor } from './supervisor.ts';

export interface AwsEmulator {
  /** Endpoint of every service, for the SDK's `endpoint`. */
  url: string;
  /** What a client needs beside its region; moto checks no signature. */
  clientOptions: { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string } };
  control: EmulatorControl;
  logs: string;
  /** Copies the logs to where they survive `stop`, and says where. */
  keepLogs(): string;
  stop(): Promise<void>;
}

const startTimeoutMs = 60_000;

export async function startAwsEmulator({ port = 0 }: { port?: number } = {}): Promise<AwsEmulator> {
  const moto = await provideMoto((line) => console.error(`AWS emulator: ${line}`));
  const supervisor = new Supervisor('aws');
  try {
    const upstream = new Upstream(`http://127.0.0.1:${await startMoto(supervisor, moto)}`);
    const world = new World(upstream);
    const control: EmulatorControl = new EmulatorControl(world, () => url);
    const proxy = createProxy(world, control);
    proxy.listen(port, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await warmUp(url);
    world.calls.length = 0;
    return {
      url,
      clientOptions: {
        endpoint: url,
        region: 'us-east-1',
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      },
      control,
      logs: supervisor.logs,
      keepLogs: () => supervisor.keepLogs(),
      stop: async () => {
        proxy.closeAllConnections();
        proxy.close();
        await supervisor.end();
      },
    };
  } catch (error) {
    const kept = supervisor.keepLogs();
    await supervisor.end();
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nall logs: ${kept}`, { cause: error });
  }
}

async function startMoto(supervisor: Supervisor, moto: { program: string; args: string[] }): Promise<number> {
  const port = await freePort();
  // The proxy has its own images; moto's 1,300 would only make its first answer late.
  const noImages = join(supervisor.folder, 'images.json');
  writeFileSync(noImages, '[]');
  const running = await supervisor.start({
    name: 'moto',
    program: moto.program,
    args: [...moto.args, '-H', '127.0.0.1', '-p', String(port)],
    env: { MOTO_AMIS_PATH: noImages, PYTHONWARNINGS: 'ignore', PYTHONUNBUFFERED: '1' },
  });
  let exit: string | undefined;
  void running.exited.then((reason) => {
    exit = reason;
  });
  for (const deadline = Date.now() + startTimeoutMs; Date.now() < deadline; await sleep(50)) {
    if (exit !== undefined) throw new Error(`moto ended (${exit}) while starting, see ${running.logFile}`);
    const answer = await request(`http://127.0.0.1:${port}/moto-api/`).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return port;
  }
  throw new Error(`moto did not answer within ${startTimeoutMs / 1000} s, see ${running.logFile}`);
}

/** moto loads a service's data at its first call, which takes seconds: not in the first test's time. */
async function warmUp(url: string): Promise<void> {
  const answer = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/ec2/aws4_request',
    },
    body: 'Action=DescribeSubnets&Version=2016-11-15',
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`the AWS emulator does not answer DescribeSubnets: ${text}`);
}
