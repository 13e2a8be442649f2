// `kerf explain` of what cannot be launched or did not join: where it is on its way, the catalogue's entry, what comes next.
import { describe, expect, test } from 'vitest';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './explain.ts';

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const condition = (type: string, status = 'True', more: object = {}) => ({
  type,
  status,
  reason: type,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
const said =
  'Nodes of role nodes cannot join: the cluster has no access entry or mapping for it. Fix: aws eks create-access-entry --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/nodes --type EC2_LINUX (registration/node-role-not-mapped: kerf doctor --only registration/node-role-not-mapped, docs/reference/failures.md#registration-node-role-not-mapped)';
const paused = condition('LaunchesPaused', 'True', {
  reason: 'NodeRoleNotMapped',
  message: `Launches are paused: ${said}`,
});

const nodeClass = (...conditions: object[]) => ({
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    role: 'nodes',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [],
    securityGroupSelectorTerms: [],
  },
  status: { conditions },
});
const pool = (...conditions: object[]) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: { template: { spec: { nodeClassRef, requirements: [] } } },
  status: { conditions },
});
const claim = (conditions: object[], status: object = {}) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'default-x',
    labels: { 'karpenter.sh/nodepool': 'default' },
    creationTimestamp: '2025-12-31T23:59:50Z',
  },
  spec: { nodeClassRef, requirements: [] },
  status: { ...status, conditions },
});
const waiting = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  status: {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
  },
};

async function explain(items: object[], ...args: string[]): Promise<string> {
  const snapshot = {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    time: '2026-01-01T00:06:00Z',
    objects: { items },
    instanceTypes: [{ nodePool: 'default', items: [] }],
  };
  const { code, out, err } = await runCommand(configure, [...args, '--snapshot', '-'], JSON.stringify(snapshot));
  expect(err).toBe('');
  expect(code).toBe(0);
  return out;
}

describe('a node class', () => {
  test('that is paused says why, since when it is used, and what to do', async () => {
    const out = await explain(
      [nodeClass(condition('Ready', 'False', { message: 'LaunchesPaused=True' }), paused), pool(condition('Ready'))],
      'ec2nodeclass/default',
    );
    expect(out).toContain('launches are paused; used by NodePool default');
    expect(out).toContain('registration/node-role-not-mapped  critical, certain');
    expect(out).toContain('fix: aws eks create-access-entry --cluster-name prod');
    expect(out).toContain('docs/reference/failures.md#registration-node-role-not-mapped');
  });

  test('is data too', async () => {
    const out = await explain(
      [nodeClass(condition('Ready', 'False'), paused)],
      'ec2nodeclass',
      'default',
      '-o',
      'json',
    );
    expect(JSON.parse(out)).toMatchObject({
      nodeClass: 'default',
      ready: false,
      failures: [{ id: 'registration/node-role-not-mapped', fix: [expect.stringContaining('create-access-entry')] }],
    });
  });

  test('without an image names the entry that the doctor finds', async () => {
    const amis = condition('AMIsReady', 'False', {
      reason: 'AMINotFound',
      message: 'AMISelector did not match any AMIs',
    });
    expect(await explain([nodeClass(amis, condition('Ready', 'False'))], 'ec2nodeclass', 'default')).toContain(
      'ami/none-for-cluster-version',
    );
  });

  test('that is well has nothing to say', async () => {
    const out = await explain([nodeClass(condition('Ready')), pool(condition('Ready'))], 'ec2nodeclass', 'default');
    expect(out).toBe('default  ready; used by NodePool default, 0 NodeClaims\n');
  });
});

test('a NodePool says what closes it, by its node class', async () => {
  const notReady = condition('NodeClassReady', 'False', {
    reason: 'NodeRoleNotMapped',
    message: `Launches are paused: ${said}`,
  });
  const out = await explain([nodeClass(paused), pool(notReady, condition('Ready', 'False'))], 'nodepool/default');
  expect(out).toContain('NodeClassReady is False: NodeRoleNotMapped');
  expect(out.match(/registration\/node-role-not-mapped {2}critical/g)).toHaveLength(1);
});

describe('a NodeClaim', () => {
  const unregistered = [
    condition('Launched'),
    condition('Registered', 'Unknown', {
      reason: 'NodeNotFound',
      message: `Node not registered with cluster: ${said}`,
    }),
    condition('Initialized', 'Unknown'),
  ];

  test('that did not join says where it is, what is usual, what is wrong, what happens next and when', async () => {
    const out = await explain(
      [nodeClass(condition('Ready')), pool(condition('Ready')), claim(unregistered, { providerID: 'aws:///a/i-1' })],
      'nodeclaim',
      'default-x',
    );
    expect(out).toMatch(/on its way: Created .* ago > Launched .* ago > Registered: not yet > Initialized/);
    expect(out).toContain('usual: a node usually joins within two minutes of its launch');
    expect(out).toContain('next: at 2026-01-01T00:15:00Z (in 9 minutes)');
    expect(out).toContain('registration/node-role-not-mapped  critical, certain');
    expect(out).not.toContain('registration/undiagnosed-timeout');
  });

  test('that is not launched says until when it is tried', async () => {
    const failed = condition('Launched', 'Unknown', { reason: 'Unauthorized', message: 'User is not authorized' });
    const out = await explain(
      [nodeClass(), pool(condition('Ready')), claim([failed])],
      'nodeclaim',
      'default-x',
      '-o',
      'json',
    );
    const [story] = JSON.parse(out) as [{ journey: object }];
    expect(story.journey).toMatchObject({
      nextAt: '2026-01-01T00:05:00Z',
      steps: [{ state: 'done' }, { state: 'now' }, {}, {}],
    });
  });
});

test('a pod whose pools are closed gets the entry with its evidence', async () => {
  const closed = pool(condition('NodeClassReady', 'False'), condition('Ready', 'False'));
  const out = await explain([nodeClass(paused, condition('Ready', 'False')), closed, waiting], 'pod', 'shop/web');
  expect(out).toContain('registration/node-role-not-mapped  critical, certain');
  expect(out).toContain('seen in ec2nodeclass/default: LaunchesPaused=True');
});

test('a simulated machine that did not join is not looked for on AWS', async () => {
  const simulated = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
  const late = claim([condition('Launched'), condition('Registered', 'Unknown', { reason: 'NodeNotFound' })], {
    providerID: 'kwok://kwok-default-x',
  });
  const objects = [pool(condition('Ready')), { ...late, spec: { ...late.spec, nodeClassRef: simulated } }];
  const out = await explain(objects, 'nodeclaim', 'default-x');
  expect(out).toContain('registration/undiagnosed-timeout');
  expect(out).toContain('spec.faults.registration');
  expect(out).not.toContain('aws ');
});

test('a pool whose launches are refused is not said to have nodes that did not register', async () => {
  const refused = { reason: 'LaunchFailed', message: 'Create was refused: too many calls' };
  const out = await explain(
    [pool(condition('Ready'), condition('NodeRegistrationHealthy', 'False', refused))],
    'nodepool',
    'default',
  );
  expect(out).toContain('NodeRegistrationHealthy is False: LaunchFailed, Create was refused');
  expect(out).not.toContain('registration/undiagnosed-timeout');
});
