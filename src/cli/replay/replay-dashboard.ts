// `kerf replay FILE --dashboard`: the page on a recording, with the player; until Ctrl-C.
import { basename } from 'node:path';
import { RealClock } from '../../runtime/index.ts';
import { type DashboardInfo, serveDashboard, WhatIfs } from '../../server/index.ts';
import { exitCode, type Terminal } from '../command.ts';
import { endOnSignals } from '../end-on-signals.ts';
import { paintFor } from '../output/index.ts';
import { findingsIn } from '../validate/findings-in.ts';
import { version } from '../version.ts';
import { comparedDay } from './play-other-day.ts';
import { openRecording, partsOf, recordingPlayer } from './recorded-view.ts';

export async function replayDashboard(terminal: Terminal, file: string, port: number): Promise<number> {
  const view = await openRecording(file);
  const real = new RealClock();
  const ending = endOnSignals();
  const player = recordingPlayer(view);
  const info: DashboardInfo = {
    mode: 'recording',
    cluster: basename(file),
    build: version,
    notVisible: () => [],
    player,
  };
  const { context, live } = view;
  const whatIfs = new WhatIfs({ context, live, real, validate: findingsIn, day: comparedDay(file) });
  const server = await serveDashboard({ ...partsOf(view, info), real, port, whatIfs });
  const paint = paintFor(terminal);
  const { fromMs, toMs } = view.bounds();
  terminal.out(`Dashboard ${paint.bold(server.url)}\n`);
  const span = `${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;
  terminal.out(`${paint.dim(`plays ${file}, ${span}. Ctrl-C ends it.`)}\n`);
  try {
    await view.run(ending.signal);
    return exitCode.ok;
  } finally {
    await server.close();
  }
}
