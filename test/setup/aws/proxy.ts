// The server the SDK talks to. A call meets, in this order: the control path, a fault, our own handler, moto.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerControl, controlPrefix, type EmulatorControl } from './control.ts';
import { ec2Handlers } from './ec2/handlers.ts';
import { answerEks, answerZonalShift } from './eks.ts';
import {
  type AwsAnswer,
  type AwsCall,
  AwsRefusal,
  accessKeyOf,
  errorAnswer,
  type Handler,
  readCall,
} from './exchange.ts';
import type { Fault } from './faults.ts';
import { iamHandlers } from './iam.ts';
import { pricingHandlers } from './pricing.ts';
import { ssmHandlers } from './ssm.ts';
import type { World } from './world.ts';

const handlersByService: Record<string, Record<string, Handler<World>>> = {
  ec2: ec2Handlers,
  iam: iamHandlers,
  pricing: pricingHandlers,
  ssm: ssmHandlers,
};

/** Services whose action is in the path. */
const servicesByPath: Record<string, Handler<World>> = {
  eks: answerEks,
  'arc-zonal-shift': answerZonalShift,
};

export function createProxy(world: World, control: EmulatorControl): Server {
  const server = createServer((incoming, outgoing) => {
    serve(world, control, incoming, outgoing).catch((error: unknown) => {
      // Not an answer AWS could give: end the connection, so that it is not mistaken for one.
      console.error(`AWS emulator: ${error instanceof Error ? error.stack : String(error)}`);
      incoming.socket.destroy();
    });
  });
  // Connections of one SDK client are reused for as long as the client lives.
  server.keepAliveTimeout = 60_000;
  return server;
}

async function serve(
  world: World,
  control: EmulatorControl,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await bodyOf(incoming);
  const path = incoming.url ?? '/';
  if (path.startsWith(controlPrefix)) {
    const { status, body: result } = await answerControl(control, path, body);
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(result);
    return;
  }
  const call = readCall(incoming.method ?? 'GET', path, incoming.headers, body);
  const atMs = Date.now();
  world.onArrival(call);
  const fault = world.faults.take(call);
  const answer = await answerWithFault(world, call, fault, outgoing);
  if (answer === undefined) {
    incoming.socket.destroy();
    return;
  }
  record(world, call, answer, atMs);
  outgoing.writeHead(answer.status, answer.headers);
  if (fault?.stall !== true) {
    outgoing.end(answer.body);
    return;
  }
  outgoing.write(answer.body.slice(0, answer.body.length / 2));
  await new Promise<void>((resolve) => outgoing.once('close', resolve));
}

/** Undefined: no answer at all, the connection is to be cut. */
async function answerWithFault(
  world: World,
  call: AwsCall,
  fault: Fault | undefined,
  outgoing: ServerResponse,
): Promise<AwsAnswer | undefined> {
  if (fault === undefined) return await answerOf(world, call);
  if (fault.delayMs !== undefined) await sleep(fault.delayMs);
  if (fault.hang) {
    await new Promise<void>((resolve) => outgoing.once('close', resolve));
    return undefined;
  }
  if (fault.drop === 'before') return undefined;
  if (fault.code !== undefined) return errorAnswer(call, faultError(fault, fault.code));
  const answer = await answerOf(world, call);
  return fault.drop === 'after' ? undefined : answer;
}

function faultError(fault: Fault, code: string) {
  const { message = `${code} on request of the test`, status = 400 } = fault;
  return { code, message, status };
}

async function answerOf(world: World, call: AwsCall): Promise<AwsAnswer> {
  await world.beforeEffect(call);
  try {
    const handler = servicesByPath[call.service] ?? handlersByService[call.service]?.[call.action];
    return (await handler?.(call, world)) ?? (await world.upstream.forward(call));
  } catch (error) {
    if (error instanceof AwsRefusal) return errorAnswer(call, error.facts);
    throw error;
  }
}

function record(world: World, call: AwsCall, answer: AwsAnswer, atMs: number): void {
  const { service, action, region, body } = call;
  const accessKeyId = accessKeyOf(call);
  const code = answer.status < 300 ? undefined : /<Code>([^<]*)|"__type":\s*"([^"]*)/.exec(answer.body);
  const found = code?.[1] ?? code?.[2];
  const { status } = answer;
  world.calls.push({ atMs, service, action, region, accessKeyId, body, status, ...(found ? { code: found } : {}) });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
