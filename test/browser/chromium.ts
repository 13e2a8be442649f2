// Debian's Chromium for the browser suite: what is installed, or, for root on a machine with apt, what can be. Elsewhere the
// suite is left out loudly; in CI that is an error.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { MissingComponent } from '../setup/missing-component.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium(): string | undefined {
  const named = process.env['KERF_CHROMIUM'];
  return [...(named === undefined ? [] : [named]), ...places].find((path) => existsSync(path));
}

function installed(): string {
  const there = findChromium();
  if (there !== undefined) return there;
  const remedy = 'install chromium, or name it with KERF_CHROMIUM';
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) {
    throw new MissingComponent({ component: 'a browser', problem: 'there is no Chromium', remedy });
  }
  try {
    const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], options);
  } catch (cause) {
    throw new MissingComponent({
      component: 'a browser',
      problem: 'apt-get could not install chromium',
      remedy,
      cause,
    });
  }
  const now = findChromium();
  if (now === undefined) {
    throw new MissingComponent({ component: 'a browser', problem: 'chromium is not where it should be', remedy });
  }
  return now;
}

/** Undefined where there is none and none is demanded. */
export async function openBrowser(): Promise<Browser | undefined> {
  try {
    return await chromium.launch({ executablePath: installed(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  } catch (error) {
    if (process.env['CI'] || !(error instanceof MissingComponent)) throw error;
    process.stderr.write(`\nSKIPPED: the browser suite: ${error.message}\n\n`);
    return undefined;
  }
}
