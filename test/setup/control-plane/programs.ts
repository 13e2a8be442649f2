// The five programs of a Kubernetes control plane. Taken from $KUBEBUILDER_ASSETS if that is set, else built once from
// their Go modules into the cache (six to ten minutes on two cores, 360 MB) and found there ever after.
// Nothing that Go generates is kept in the repository.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from '../cache-folder.ts';
import { GoTool, toolsFile } from '../go-build.ts';
import { MissingComponent } from '../missing-component.ts';

/** The release the suites run on unless another is asked for. */
export const usualKubernetes = '1.37.1';

/** Another release can be asked for by those who want to know whether it makes a difference: 1.34.4, 1.36.3. */
export const kubernetesVersion = (env: NodeJS.ProcessEnv = process.env): string =>
  env['KUBERNETES_VERSION'] || usualKubernetes;

const etcdVersion = '3.6.8';

const kubernetesPrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;
const programNames = ['etcd', ...kubernetesPrograms] as const;

/** Absolute path of each program. */
export type Programs = Record<(typeof programNames)[number], string>;

export async function provideControlPlane(progress: Progress, env: NodeJS.ProcessEnv = process.env): Promise<Programs> {
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets) return programsIn(assets, 'KUBEBUILDER_ASSETS');
  const version = kubernetesVersion(env);
  const folder = join(cacheFolder(env), `control-plane-${version}-etcd-${etcdVersion}`);
  await makeOnce({ folder, make: (work) => build(work, version, new GoTool(env, progress), progress), progress });
  return programsIn(folder, 'the cache');
}

function programsIn(folder: string, source: string): Programs {
  const entries = programNames.map((name) => [name, join(folder, name)] as const);
  const absent = entries.filter(([, path]) => !isExecutable(path)).map(([name]) => name);
  if (absent.length > 0) {
    throw new MissingComponent({
      component: 'a Kubernetes control plane',
      problem: `${source} (${folder}) has no executable ${absent.join(', ')}`,
      remedy:
        source === 'the cache'
          ? `remove ${folder} and run \`npm run control-plane -- --build-only\``
          : `put ${programNames.join(', ')} there, or unset KUBEBUILDER_ASSETS to have them built`,
    });
  }
  return Object.fromEntries(entries) as Programs;
}

async function build(work: string, kubernetesVersion: string, go: GoTool, progress: Progress): Promise<void> {
  const startedMs = Date.now();
  await go.require('a Kubernetes control plane', ', or set KUBEBUILDER_ASSETS to a folder with its five programs');
  progress(`building Kubernetes ${kubernetesVersion} and etcd ${etcdVersion} once (minutes, then cached)`);
  await buildEtcd(work, go);
  await buildKubernetes(work, kubernetesVersion, go);
  progress(`built in ${Math.round((Date.now() - startedMs) / 1000)} s`);
}

async function buildEtcd(work: string, go: GoTool): Promise<void> {
  const main = [
    'package main',
    'import (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)',
    'func main() { etcdmain.Main(os.Args) }\n',
  ];
  await go.build(join(work, 'etcd-module'), {
    what: 'etcd',
    files: {
      'main.go': main.join('\n\n'),
      'go.mod': `module kerf.test/etcd\n\ngo 1.24\n\nrequire go.etcd.io/etcd/server/v3 v${etcdVersion}\n`,
    },
    args: ['-o', join(work, 'etcd'), '-ldflags', '-s -w', '.'],
  });
}

async function buildKubernetes(work: string, kubernetesVersion: string, go: GoTool): Promise<void> {
  const folder = join(work, 'kubernetes-module');
  const packages = kubernetesPrograms.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  const [major, minor] = kubernetesVersion.split('.');
  // Without a stamped version, clients see 0.0.0 and the feature gates of no release.
  const stamp = Object.entries({ gitVersion: `v${kubernetesVersion}`, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
  await go.build(folder, {
    what: 'Kubernetes',
    files: { 'tools.go': toolsFile(packages), 'go.mod': await kubernetesModule(folder, kubernetesVersion, go) },
    args: ['-o', `${work}/`, '-ldflags', `-s -w ${stamp}`, ...packages],
  });
}

/**
 * Inside its own repository the kubernetes module replaces its staging modules by folders, and requires them at v0.0.0.
 * From outside, each has to be replaced by the release of the same number.
 */
async function kubernetesModule(folder: string, kubernetesVersion: string, go: GoTool): Promise<string> {
  const module = await go.moduleOf('k8s.io/kubernetes', `v${kubernetesVersion}`, folder);
  const staging = kubernetesVersion.replace(/^1/, '0');
  const replaces = module.Require.filter(({ Path, Version }) => Path.startsWith('k8s.io/') && Version === 'v0.0.0').map(
    ({ Path }) => `\t${Path} => ${Path} v${staging}`,
  );
  return [
    'module kerf.test/kubernetes',
    `go ${module.Go}`,
    `require k8s.io/kubernetes v${kubernetesVersion}`,
    `replace (\n${replaces.join('\n')}\n)\n`,
  ].join('\n\n');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
