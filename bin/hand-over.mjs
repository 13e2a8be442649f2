// Runs a script with another Node as if it ran here: the same terminal, signals passed on, the same way to end. It runs on
// any Node from 18 on.
import { spawn } from 'node:child_process';

export function handOver(node, args, options = {}) {
  // The channel is a leash: when this process is killed, the child finds it closed and ends (src/cli/main.ts).
  const child = spawn(node, args, { ...options, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // A terminal sends Ctrl-C to the child as well, others only to this process: who handles signals must expect echoes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
