// Makes a fresh clone runnable: installs dependencies when they are missing or older than the lock file, then runs the
// given script with the project's own Node. It relies on nothing but the Node that npm itself runs on (any version from
// 18 on), because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from '../bin/hand-over.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const node = join(root, 'node_modules', 'node', 'bin', 'node');
const installed = join(root, 'node_modules', '.package-lock.json');
const lock = join(root, 'package-lock.json');

function isInstalled() {
  if (!existsSync(node) || !existsSync(installed)) return false;
  return !existsSync(lock) || statSync(installed).mtimeMs >= statSync(lock).mtimeMs - 1000;
}

if (!isInstalled()) {
  console.error('Installing dependencies…');
  const npm = (command, stdio) =>
    spawnSync('npm', [command, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio });
  // npm ci installs exactly what the lock file says. Some mirrors lack other platforms' binary packages, which it refuses.
  let result = npm('ci', 'ignore');
  if (result.status !== 0) result = npm('install', ['ignore', 'inherit', 'inherit']);
  if (result.status !== 0 || !existsSync(node)) {
    console.error('kerf: npm install failed, so nothing was run. Check the network and try `npm install` by hand.');
    process.exit(1);
  }
}

const [script, ...args] = process.argv.slice(2);
if (script !== undefined) {
  const bin = join(root, 'node_modules', '.bin');
  handOver(node, [script, ...args], {
    cwd: root,
    env: { ...process.env, PATH: `${dirname(node)}:${bin}:${process.env.PATH}` },
  });
}
