// `npm run control-plane`: builds the control plane if needed, starts one, says how to use it, stops it on Ctrl-C.
// `-- --build-only` stops after building. Other flags: --no-scheduler, --no-controller-manager.
import { parseArgs } from 'node:util';
import { provideControlPlane } from './control-plane/programs.ts';
import { startControlPlane } from './control-plane.ts';
import { runCommand, untilInterrupted } from './run-command.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      'build-only': { type: 'boolean', default: false },
      scheduler: { type: 'boolean', default: true },
      'controller-manager': { type: 'boolean', default: true },
    },
  });
  const programs = await provideControlPlane((line) => console.error(line));
  if (values['build-only']) {
    console.log(`control plane programs: ${programs.kubectl.replace(/\/kubectl$/, '')}`);
    return;
  }
  const started = Date.now();
  const cluster = await startControlPlane({
    scheduler: values.scheduler,
    controllerManager: values['controller-manager'],
  });
  console.log(`control plane ready in ${((Date.now() - started) / 1000).toFixed(1)} s at ${cluster.url}

  export KUBECONFIG=${cluster.kubeconfig}
  ${programs.kubectl} get namespaces

logs:  ${cluster.logs}
stop:  Ctrl-C`);
  await untilInterrupted();
  await cluster.stop();
}

await runCommand('control-plane', main);
