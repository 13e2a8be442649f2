// Static pools, buffers, overlays and condition reports of the real command on a real control plane.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { customResourceDefinition, kinds } from '../../src/api/index.ts';
import { freePort } from '../setup/free-port.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane({ controllerManager: true, scheduler: true });
const patience = { timeout: 60_000, interval: 500 };
let controller: ChildProcess;
let metricsUrl: string;
let output = '';

const kubectl = async (...args: string[]): Promise<string> => (await cluster().kubectl(args)).stdout;
const apply = (...objects: object[]): Promise<unknown> =>
  cluster().kubectl(['apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
const names = async (...what: string[]): Promise<string[]> =>
  (await kubectl('get', ...what, '-o', 'name')).split('\n').filter((name) => name !== '');

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const ofType = (name: string) => ({ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] });
const pool = (name: string, spec: object, requirements: object[] = []) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  spec: { template: { spec: { nodeClassRef, requirements } }, ...spec },
});

beforeAll(async () => {
  await apply(...kinds.map(customResourceDefinition));
  await kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
  await apply({
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
  const [metricsPort, healthPort] = [await freePort(), await freePort()];
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const flags = {
    provider: 'kwok',
    kubeconfig: cluster().kubeconfig,
    'metrics-port': String(metricsPort),
    'health-probe-port': String(healthPort),
    'feature-gates': 'StaticCapacity=true,CapacityBuffer=true,NodeOverlay=true',
  };
  controller = spawn(process.execPath, [
    fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url)),
    'controller',
    '--fake-kubelets',
    '--disable-leader-election',
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ]);
  controller.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  controller.stderr?.on('data', (text: Buffer) => (output += text.toString()));
}, 180_000);
afterAll(async () => {
  if (controller?.exitCode !== null) throw new Error(`the controller ended by itself:\n${output.slice(-5_000)}`);
  const ended = new Promise((resolve) => controller.once('exit', resolve));
  controller.kill('SIGTERM');
  await ended;
});

test('a static pool has the nodes kubectl scale asks for', async () => {
  await apply(pool('static', { replicas: 3 }, [ofType('c-2x-amd64-linux')]));
  const nodes = () => names('nodes', '-l', 'karpenter.sh/nodepool=static,karpenter.sh/initialized=true');
  await vi.waitFor(async () => expect(await nodes()).toHaveLength(3), patience);
  await kubectl('scale', 'nodepool', 'static', '--replicas=1');
  await vi.waitFor(
    async () => expect(await names('nodes', '-l', 'karpenter.sh/nodepool=static')).toHaveLength(1),
    patience,
  );
  await kubectl('delete', 'nodepool', 'static', '--timeout=60s');
  await vi.waitFor(
    async () => expect(await names('nodes', '-l', 'karpenter.sh/nodepool=static')).toEqual([]),
    patience,
  );
});

test('a buffer has a node before any pod comes, of the type an overlay made cheap', async () => {
  await apply({
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name: 'cheap' },
    spec: { requirements: [ofType('m-8x-arm64-linux')], price: '0.001' },
  });
  await kubectl('wait', 'nodeoverlay/cheap', '--for=condition=Ready', '--timeout=60s');
  await apply(
    pool('dynamic', { disruption: { consolidateAfter: '0s' } }),
    {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 'web', namespace: 'default' },
      template: { spec: { containers: [{ name: 'c', image: 'none', resources: { requests: { cpu: '2' } } }] } },
    },
    {
      apiVersion: 'autoscaling.x-k8s.io/v1beta1',
      kind: 'CapacityBuffer',
      metadata: { name: 'spare', namespace: 'default' },
      spec: { podTemplateRef: { name: 'web' }, replicas: 3 },
    },
  );
  await kubectl('wait', 'capacitybuffer/spare', '--for=condition=ReadyForProvisioning', '--timeout=60s');
  const ours = ['nodes', '-l', 'karpenter.sh/nodepool=dynamic,node.kubernetes.io/instance-type=m-8x-arm64-linux'];
  await vi.waitFor(async () => expect(await names(...ours)).toHaveLength(1), patience);
  await kubectl('wait', 'capacitybuffer/spare', '--for=condition=Provisioning', '--timeout=90s');
  expect(await names('pods', '-A')).toEqual([]);
  await kubectl('delete', 'capacitybuffer', 'spare');
  await vi.waitFor(async () => expect(await names('nodeclaims')).toEqual([]), { timeout: 120_000, interval: 1_000 });
}, 300_000);

test('changes of conditions are told as events and metrics', async () => {
  const events = await kubectl('get', 'events', '-A', '-o', 'jsonpath={range .items[*]}{.message}{"\\n"}{end}');
  expect(events).toContain('Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched');
  expect(events).toContain('Finalized karpenter.sh/termination');
  const metrics = await (await fetch(metricsUrl)).text();
  expect(metrics).toMatch(
    /operator_nodepool_status_condition_count\{.*name="dynamic",type="Ready",status="True".*\} 1/,
  );
  expect(metrics).toContain('operator_nodeclaim_termination_duration_seconds_count');
});
