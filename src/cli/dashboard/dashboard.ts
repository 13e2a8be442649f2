// `kerf dashboard`: the page for a live cluster, served from this machine. Installs nothing and changes nothing; the link it
// prints works once, in one browser.
import type { Command } from 'commander';
import { serveDashboard, Token, WhatIfs } from '../../server/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { endOnSignals } from '../end-on-signals.ts';
import { paintFor } from '../output/index.ts';
import { portNumber } from '../port-number.ts';
import { findingsIn } from '../validate/findings-in.ts';
import { version } from '../version.ts';

interface Flags {
  context?: string | true;
  kubeconfig?: string;
  port: number;
}

const help = `
Read only: nothing is installed, nothing is changed. Works on clusters that run Kerf or Karpenter.
The link holds a token that works once and becomes a cookie of your browser.

Examples:
  kerf dashboard
  kerf dashboard --context prod --port 6482
Ctrl-C ends it.`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Show a live cluster in the browser, from this machine.')
    .option('--context [name]', 'context of the kubeconfig, the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .option('--port <number>', 'port of the page on loopback; 0 for any free one', portNumber, 0)
    .addHelpText('after', help)
    .action(run(dashboard));
}

async function dashboard(terminal: Terminal, flags: Flags): Promise<number> {
  const [{ lookFromOutside }, { examination }, { openCluster }] = await Promise.all([
    import('./outside.ts'),
    import('../doctor/examine.ts'),
    import('../doctor/live/look.ts'),
  ]);
  const outside = await lookFromOutside({ ...flags, env: terminal.env });
  const { context, live, clock } = outside;
  const looking = {
    env: terminal.env,
    ...(typeof flags.context === 'string' && { context: flags.context }),
    ...(flags.kubeconfig !== undefined && { kubeconfig: flags.kubeconfig }),
  };
  const token = new Token();
  const ending = endOnSignals();
  const cluster = typeof flags.context === 'string' ? flags.context : new URL(outside.server).host;
  const server = await serveDashboard({
    context,
    live,
    decisions: outside.decisions,
    usage: () => outside.usage.read(),
    info: { mode: 'outside', cluster, build: version, notVisible: outside.notVisible },
    findings: examination(() => openCluster(looking), looking),
    real: clock,
    port: flags.port,
    token,
    whatIfs: new WhatIfs({ context, live, real: clock, validate: findingsIn }),
  });
  const paint = paintFor(terminal);
  terminal.out(`Dashboard ${paint.bold(`${server.url}/?token=${token.once}`)}\n`);
  terminal.out(`${paint.dim(`shows ${cluster}; nothing is changed. Ctrl-C ends it.`)}\n`);
  try {
    await outside.run(ending.signal);
    return exitCode.ok;
  } finally {
    await server.close();
  }
}
