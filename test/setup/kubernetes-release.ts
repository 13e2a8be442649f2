// What the control plane of the suites cannot do because it is an older release. A test that needs a newer one is skipped
// by its version and says so: a suite on an old release never looks as if it had tried everything.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { kubernetesVersion } from './control-plane/programs.ts';

/** The minor release of the control plane that the suites start. */
function minorRelease(env: NodeJS.ProcessEnv = process.env): number {
  const assets = env['KUBEBUILDER_ASSETS'];
  const version = assets
    ? execFileSync(join(assets, 'kube-apiserver'), ['--version'], { encoding: 'utf8' })
    : kubernetesVersion(env);
  const minor = /1\.(\d+)\./.exec(version)?.[1];
  if (minor === undefined) throw new Error(`which release of Kubernetes is ${version}?`);
  return Number(minor);
}

/** For `test.skipIf`: whether the control plane is older than 1.`minor`, with the reason on standard error if so. */
export function isOlderThan(minor: number, why: string): boolean {
  const actual = minorRelease();
  if (actual >= minor) return false;
  console.warn(`skipped on Kubernetes 1.${actual}, runs on 1.${minor} and newer: ${why}`);
  return true;
}

/** For `test.skipIf`: whether the control plane is another release than 1.`minor`, with the reason on standard error if so. */
export function isOtherThan(minor: number, why: string): boolean {
  const actual = minorRelease();
  if (actual === minor) return false;
  console.warn(`skipped on Kubernetes 1.${actual}, runs on 1.${minor} only: ${why}`);
  return true;
}
