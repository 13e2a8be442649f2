// `npm run aws-emulator`: installs moto if needed, starts it behind the proxy, says how to use it, stops it on Ctrl-C.
// Flags: --port N, --build-only.
import { parseArgs } from 'node:util';
import { provideMoto } from './aws/moto.ts';
import { startAwsEmulator } from './aws-emulator.ts';
import { runCommand, untilInterrupted } from './run-command.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { 'build-only': { type: 'boolean', default: false }, port: { type: 'string', default: '0' } },
  });
  const { program } = await provideMoto((line) => console.error(line));
  if (values['build-only']) {
    console.log(`AWS emulator: ${program}`);
    return;
  }
  const started = Date.now();
  const emulator = await startAwsEmulator({ port: Number(values.port) });
  console.log(`AWS emulator ready in ${((Date.now() - started) / 1000).toFixed(1)} s at ${emulator.url}

  export AWS_ENDPOINT_URL=${emulator.url} AWS_REGION=us-east-1
  export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test

no spot capacity of m5.large in us-east-1a:
  curl -d '["spot:m5.large:us-east-1a"]' ${emulator.url}/_kerf/exhaust

logs:  ${emulator.logs}
stop:  Ctrl-C`);
  await untilInterrupted();
  await emulator.stop();
}

await runCommand('aws-emulator', main);
