import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import {
  expectUnscheduled,
  instanceType,
  newNodeOf,
  nodePool,
  object,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
} from './testing/builders.testing.ts';

/** An init container that keeps running; without `restartPolicy` it ends before the others begin. */
const sidecarPort = (port: number, more: object = { restartPolicy: 'Always' }) => ({
  containers: [{ name: 'm' }],
  initContainers: [{ name: 's', ports: [{ containerPort: 80, hostPort: port }], ...more }],
});
const hostPort = (port: number, more = {}) => ({
  containers: [{ name: 'm', ports: [{ containerPort: 80, hostPort: port, protocol: 'TCP', ...more }] }],
});

test('a host port is given once per node, address and protocol', () => {
  expect(plan([nodePool(), ...pods(2, { spec: hostPort(80) })]).newNodes).toHaveLength(2);
  const beside = pod({ spec: sidecarPort(80) });
  expect(plan([nodePool(), pod({ spec: hostPort(80) }), beside]).newNodes).toHaveLength(2);
  const before = pod({ spec: sidecarPort(80, {}) });
  expect(plan([nodePool(), pod({ spec: hostPort(80) }), before]).newNodes).toHaveLength(1);
  const udp = pod({ spec: hostPort(80, { protocol: 'UDP' }) });
  expect(plan([nodePool(), pod({ spec: hostPort(80) }), udp]).newNodes).toHaveLength(1);
  const ips = ['10.0.0.1', '10.0.0.2'].map((hostIP) => pod({ spec: hostPort(80, { hostIP }) }));
  expect(plan([nodePool(), ...ips]).newNodes).toHaveLength(1);
  expect(plan([nodePool(), ...ips, pod({ spec: hostPort(80) })]).newNodes).toHaveLength(2);
});

const daemonSet = (spec: object, name = 'agent') =>
  object('apps/v1', 'DaemonSet', name, { metadata: { namespace: 'kube-system' }, spec: { template: { spec } } });
const asking = (cpu: string) => [{ name: 'd', resources: { requests: { cpu } } }];

test('what daemons take is counted and listed', () => {
  const types = [instanceType({ cpu: '4' })];
  const waiting = pod({ cpu: '3' });
  const result = plan([nodePool(), daemonSet({ containers: asking('1') }), waiting], { types });
  expect(newNodeOf(result, waiting).requests).toEqual({ cpu: '4', pods: '2' });
  expectUnscheduled(plan([nodePool(), daemonSet({ containers: asking('2') }), waiting], { types }), waiting);
});

test.each([
  ['a pool with startup taints', { startupTaints: [{ key: 's', effect: 'NoExecute' }] }, {}, true],
  ['a pool with a PreferNoSchedule taint', { taints: [{ key: 'p', effect: 'PreferNoSchedule' }] }, {}, true],
  ['a matching custom selector', { labels: { team: 'x' } }, { nodeSelector: { team: 'x' } }, true],
  ['a selector on an unknown label', {}, { nodeSelector: { team: 'x' } }, false],
  ['a taint it does not tolerate', { taints: [{ key: 't', effect: 'NoSchedule' }] }, {}, false],
  [
    'NotIn on an unknown key',
    {},
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [requirement('a', 'NotIn', ['b'])] }],
          },
        },
      },
    },
    true,
  ],
  [
    'any matching alternative',
    {},
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [requirement(label.zone, 'In', ['nowhere'])] },
              { matchExpressions: [requirement(label.zone, 'In', ['zone-1'])] },
            ],
          },
        },
      },
    },
    true,
  ],
  [
    'a preference that cannot be met',
    {},
    {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [requirement('a', 'In', ['b'])] } },
          ],
        },
      },
    },
    true,
  ],
  ['no instance type it could run on', {}, { nodeSelector: { [label.arch]: 'riscv' } }, false],
  ['a selector that is invalid', {}, { nodeSelector: { 'not a name': 'x' } }, false],
  ['waiting for an initialised node', {}, { nodeSelector: { [label.initialized]: 'true' } }, true],
])('a daemon with %s counts: %o', (_, pool, spec, counts) => {
  const waiting = pod({ cpu: '1', spec: { tolerations: [{ operator: 'Exists' }] } });
  const result = plan([nodePool(pool), daemonSet({ containers: asking('1'), ...spec }), waiting]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe(counts ? '2' : '1');
});

test('a daemon that runs on some types only is charged there, and listed only where it is certain', () => {
  const types = [
    instanceType({ name: 'amd', arch: 'amd64', cpu: '4' }),
    instanceType({ name: 'arm', arch: 'arm64', cpu: '4' }),
  ];
  const daemon = daemonSet({ containers: asking('2'), nodeSelector: { [label.arch]: 'arm64' } });
  const small = pod({ cpu: '1' });
  const large = pod({ cpu: '3' });
  expect(newNodeOf(plan([nodePool(), daemon, small], { types }), small).requests['cpu']).toBe('1');
  expect(newNodeOf(plan([nodePool(), daemon, large], { types }), large).instanceTypes).toEqual(['amd']);
});

test('the requests of a running daemon pod replace those of its template', () => {
  const running = pod({
    namespace: 'kube-system',
    cpu: '3',
    node: 'gone',
    owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', controller: true },
  });
  const waiting = pod({ cpu: '1' });
  const result = plan([nodePool(), daemonSet({ containers: asking('1') }), running, waiting]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe('4');
});

test('where a running daemon pod was pinned to does not matter: its template says where the others run', () => {
  const required = (terms: object[]) => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  });
  const running = pod({
    namespace: 'kube-system',
    cpu: '3',
    node: 'gone',
    owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', controller: true },
    spec: required([{ matchFields: [requirement('metadata.name', 'In', ['gone'])] }]),
  });
  const waiting = pod({ cpu: '1' });
  const cpuWith = (zone: string) => {
    const template = {
      containers: asking('1'),
      ...required([{ matchExpressions: [requirement(label.zone, 'In', [zone])] }]),
    };
    return newNodeOf(plan([nodePool(), daemonSet(template), running, waiting]), waiting).requests['cpu'];
  };
  expect([cpuWith('zone-1'), cpuWith('nowhere')]).toEqual(['4', '1']);
});

test('a daemon without requests asks for its limits', () => {
  const daemon = daemonSet({ containers: [{ name: 'd', resources: { limits: { cpu: '2' } } }] });
  const waiting = pod({ cpu: '1' });
  expect(newNodeOf(plan([nodePool(), daemon, waiting]), waiting).requests['cpu']).toBe('3');
});

test('host ports of a daemon keep pods only off types on which it runs', () => {
  const types = [
    instanceType({ name: 'amd', arch: 'amd64', price: 1 }),
    instanceType({ name: 'arm', arch: 'arm64', price: 2 }),
  ];
  const daemon = daemonSet({ ...hostPort(80), nodeSelector: { [label.arch]: 'amd64' } });
  const waiting = pod({ spec: hostPort(80) });
  expect(newNodeOf(plan([nodePool(), daemon, waiting], { types }), waiting).instanceTypes).toEqual(['arm']);
  const everywhere = plan([nodePool(), daemonSet(hostPort(80)), waiting], { types });
  expect(reasonsOf(everywhere, waiting)[0]?.code).toBe('HostPortConflict');
});

test('pods with resource claims are not supported while DRA is ignored, and their daemons take nothing', () => {
  const claims = { resourceClaims: [{ name: 'gpu' }] };
  const device = pod({ spec: claims });
  const waiting = pod({ cpu: '1' });
  const result = plan([nodePool(), daemonSet({ ...claims, containers: asking('1') }), device, waiting]);
  expect(reasonsOf(result, device)).toMatchObject([{ code: 'DynamicResourcesUnsupported' }]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe('1');
});
