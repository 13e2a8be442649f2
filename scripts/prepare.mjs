// After `npm install`: bundle the command, so that bin/kerf starts fast from the first call. A failure here is not a
// failed install, because bin/kerf also runs the sources.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync('src/cli/main.ts') && existsSync('node_modules/node/bin/node') && existsSync('node_modules/esbuild')) {
  const result = spawnSync('node_modules/node/bin/node', ['scripts/build.ts'], { stdio: 'inherit' });
  if (result.status !== 0) console.error('kerf: the bundle could not be built; bin/kerf runs the sources instead.');
}
