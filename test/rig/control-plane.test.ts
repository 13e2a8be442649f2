// The rig itself: what every suite on a real control plane relies on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { kubernetesVersion } from '../setup/control-plane/programs.ts';
import { startControlPlane } from '../setup/control-plane.ts';
import { identityOf, isAlive } from '../setup/process-identity.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(100);
  }
}

describe('a control plane with all its components', () => {
  const cluster = useControlPlane({ controllerManager: true, scheduler: true });

  test('serves the stamped version to kubectl through its kubeconfig', async () => {
    const { stdout } = await cluster().kubectl(['version', '--output=json']);
    const [major, minor] = kubernetesVersion().split('.');
    expect(JSON.parse(stdout)).toMatchObject({
      serverVersion: { major, minor, gitVersion: `v${kubernetesVersion()}` },
    });
  });

  test('applies what kubectl gets on standard input, and a refusal carries kubectl’s message', async () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'from-stdin' }, data: { a: 'b' } };
    await cluster().kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(config) });
    const { stdout } = await cluster().kubectl(['get', 'configmap', 'from-stdin', '-o', 'jsonpath={.data.a}']);
    expect(stdout).toBe('b');
    await expect(cluster().kubectl(['get', 'configmap', 'absent'])).rejects.toThrow('"absent" not found');
  });

  test('its certificate is trusted with the CA only, and only for the names it was made for', async () => {
    const { url, ca, token } = cluster();
    const headers = { authorization: `Bearer ${token}` };
    const trusting = await request(`${url}/version`, { headers, dispatcher: new Agent({ connect: { ca } }) });
    expect(trusting.statusCode).toBe(200);
    await trusting.body.dump();
    await expect(request(`${url}/version`, { headers, dispatcher: new Agent() })).rejects.toThrow(/certificate/);
    const elsewhere = new Agent({ connect: { ca, servername: 'example.com' } });
    await expect(request(`${url}/version`, { headers, dispatcher: elsewhere })).rejects.toThrow(/altnames/);
  });

  test('a client certificate issued by the rig names a user and its groups', async () => {
    const { url, ca } = cluster();
    const { certPem, keyPem } = cluster().issueCertificate({ commonName: 'ada', organizations: ['engineers', 'qa'] });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await new Promise<string>((resolve, reject) => {
      const call = httpsRequest(
        `${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
        { method: 'POST', ca, cert: certPem, key: keyPem, headers: { 'content-type': 'application/json' } },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve(text));
        },
      );
      call.on('error', reject);
      call.end(JSON.stringify(review));
    });
    const { username, groups } = (
      JSON.parse(answer) as { status: { userInfo: { username: string; groups: string[] } } }
    ).status.userInfo;
    expect(username).toBe('ada');
    expect(groups).toEqual(expect.arrayContaining(['engineers', 'qa', 'system:authenticated']));
  });

  test('the controller manager makes pods of a deployment and the scheduler binds them to a node', async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'bare' },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
        capacity: { cpu: '4', memory: '8Gi', pods: '10' },
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }],
      },
    };
    expect((await cluster().request('POST', '/api/v1/nodes', node)).status).toBe(201);
    await cluster().kubectl(['create', 'deployment', 'web', '--image=none', '--replicas=2']);
    await eventually('two pods bound to the node', async () => {
      const { stdout } = await cluster().kubectl(['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}']);
      return stdout === 'bare bare';
    });
  });

  test('an API server that restarts keeps its address and its data', async () => {
    const before = cluster().pidOf('kube-apiserver');
    await cluster().kubectl(['create', 'configmap', 'survivor']);
    await cluster().stopApiServer(0);
    await expect(cluster().request('GET', '/readyz')).rejects.toThrow();
    await cluster().startApiServer();
    expect(cluster().pidOf('kube-apiserver')).not.toBe(before);
    expect((await cluster().request('GET', '/api/v1/namespaces/default/configmaps/survivor')).status).toBe(200);
  });

  test('a second control plane beside it is another cluster', async () => {
    const other = await startControlPlane();
    try {
      await cluster().kubectl(['create', 'configmap', 'only-here']);
      expect((await other.request('GET', '/api/v1/namespaces/default/configmaps/only-here')).status).toBe(404);
    } finally {
      await other.stop();
    }
    expect(existsSync(other.folder)).toBe(false);
  });
});

describe('what is left behind', () => {
  test('stop leaves no process and no folder, and stopping twice is harmless', async () => {
    const cluster = await startControlPlane();
    const processes = pidsOf(cluster.supervisorPid).map(identityOf);
    expect(processes.length).toBe(3);
    await cluster.stop();
    await cluster.stop();
    expect(processes.filter(isAlive)).toEqual([]);
    expect(existsSync(cluster.folder)).toBe(false);
  });

  test('nothing, when the process that started it is killed with SIGKILL', async () => {
    const owner = await startOwner();
    const processes = pidsOf(owner.supervisorPid).map(identityOf);
    expect(processes.length).toBe(5);
    process.kill(owner.pid, 'SIGKILL');
    await eventually('all processes gone', () => processes.filter(isAlive).length === 0);
    expect(existsSync(owner.folder)).toBe(false);
  });

  test('no process, when the supervisor itself is killed; its folder goes when the next rig starts', async () => {
    const owner = await startOwner();
    const processes = pidsOf(owner.supervisorPid).map(identityOf);
    process.kill(owner.supervisorPid, 'SIGKILL');
    await eventually('all processes gone', () => processes.filter(isAlive).length === 0);
    process.kill(owner.pid, 'SIGKILL');
    const next = await startControlPlane();
    expect(existsSync(owner.folder)).toBe(false);
    await next.stop();
  });
});

test('a component that cannot start is named, with the end of its log and where all logs are', async () => {
  const failure = await startControlPlane({ apiServerFlags: ['--no-such-flag'] }).catch((error: unknown) => error);
  const message = (failure as Error).message;
  expect(message).toMatch(/^kube-apiserver ended \(exit code 1\) while starting:/);
  expect(message).toContain('unknown flag: --no-such-flag');
  const logs = /all logs: (.*)$/.exec(message)?.[1] ?? '';
  expect(readdirSync(logs).sort()).toEqual(['etcd.log', 'kube-apiserver.log']);
  expect(logs.startsWith(tmpdir())).toBe(true);
  rmSync(logs, { recursive: true });
});

/** A process that does nothing but own a control plane. */
async function startOwner(): Promise<{ pid: number; supervisorPid: number; folder: string }> {
  const script = fileURLToPath(new URL('./control-plane-owner.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return JSON.parse(line) as { pid: number; supervisorPid: number; folder: string };
}

/** The process and its children, as the kernel knows them. */
function pidsOf(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
  return [parent, ...children.split(' ').filter(Boolean).map(Number)];
}
