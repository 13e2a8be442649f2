import { setImmediate as settle } from 'node:timers/promises';
import type { EC2Client } from '@aws-sdk/client-ec2';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type RecordedMetrics, recordedLog, recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { awsRefusal, type Fake, fakeEc2 } from '../fake-client.testing.ts';
import { templateAnswers, templateSpec } from './launch-template.testing.ts';
import { LaunchTemplates } from './launch-templates.ts';

let clock: VirtualClock;
let metrics: RecordedMetrics;
let log: ReturnType<typeof recordedLog>;
let ec2: Fake<EC2Client>;
let templates: LaunchTemplates;
let existing: Set<string>;

beforeEach(() => {
  clock = new VirtualClock({ settle });
  metrics = recordedMetrics();
  log = recordedLog();
  existing = new Set();
  ec2 = fakeEc2(templateAnswers(existing));
  templates = new LaunchTemplates({ ec2: ec2.client, clock, metrics, log, clusterName: 'demo' });
});

const userData = Buffer.from('hello').toString('base64');
const render = () => userData;
const counts = () =>
  ['DescribeLaunchTemplates', 'CreateLaunchTemplate', 'DeleteLaunchTemplate'].map(
    (action) => ec2.inputs(action).length,
  );

test('a template is looked up and made once, however many launches need it at once, and then known', async () => {
  const names = await Promise.all(Array.from({ length: 100 }, () => templates.ensure(templateSpec(), render)));
  expect(new Set(names).size).toBe(1);
  expect(existing).toEqual(new Set(names));
  await templates.ensure(templateSpec(), render);
  expect(counts()).toEqual([1, 1, 0]);
});

test('one that exists in EC2 is used as it is', async () => {
  existing.add(await templates.ensure(templateSpec(), render));
  templates.dispose();
  const next = new LaunchTemplates({ ec2: ec2.client, clock, metrics, log, clusterName: 'demo' });
  await next.ensure(templateSpec(), render);
  expect(counts()).toEqual([2, 1, 0]);
});

test('one made by someone else between look-up and creation is as good', async () => {
  ec2.answers['CreateLaunchTemplate'] = () => {
    throw awsRefusal('InvalidLaunchTemplateName.AlreadyExistsException');
  };
  await expect(templates.ensure(templateSpec(), render)).resolves.toMatch(/^karpenter/);
});

test('a minute after its last use it is deleted in EC2; every use starts the minute again', async () => {
  await templates.ensure(templateSpec(), render);
  await clock.runFor(59_000);
  await templates.ensure(templateSpec(), render);
  await clock.runFor(59_000);
  expect(existing.size).toBe(1);
  await clock.runFor(1_000);
  expect(existing.size).toBe(0);
});

test('a launch that needs a template which is just being deleted waits and makes it anew', async () => {
  const name = await templates.ensure(templateSpec(), render);
  ec2.answers['DeleteLaunchTemplate'] = async () => {
    await clock.sleep(1_000);
    existing.delete(name);
  };
  await clock.runFor(60_000);
  const again = templates.ensure(templateSpec(), render);
  await clock.runFor(2_000);
  expect(await again).toBe(name);
  expect(existing.has(name)).toBe(true);
  expect(counts()).toEqual([2, 2, 1]);
});

test('a forgotten template is looked up again and not deleted', async () => {
  const name = await templates.ensure(templateSpec(), render);
  templates.forget(name);
  await clock.runFor(120_000);
  expect(counts()).toEqual([1, 1, 0]);
  await templates.ensure(templateSpec(), render);
  expect(counts()).toEqual([2, 1, 0]);
});

test('templates a former process left are taken over, and end when they are not needed', async () => {
  existing.add('karpenter.k8s.aws/1').add('karpenter.k8s.aws/2').add('someone-elses');
  await templates.hydrate();
  expect(ec2.inputs('DescribeLaunchTemplates')).toEqual([
    { Filters: [{ Name: 'tag:eks:eks-cluster-name', Values: ['demo'] }], MaxResults: 200 },
  ]);
  await clock.runFor(60_000);
  expect(existing).toEqual(new Set(['someone-elses']));
});

test('a failed deletion is reported and forgotten; one already gone is fine', async () => {
  await templates.ensure(templateSpec(), render);
  ec2.answers['DeleteLaunchTemplate'] = () => {
    throw awsRefusal('UnauthorizedOperation');
  };
  await clock.runFor(60_000);
  expect(log.lines.map(({ message }) => message)).toContain('could not delete launch template');
  ec2.answers['DeleteLaunchTemplate'] = () => {
    throw awsRefusal('InvalidLaunchTemplateName.NotFoundException');
  };
  await templates.ensure(templateSpec(), render);
  await clock.runFor(60_000);
  expect(log.lines.filter(({ error }) => error !== undefined)).toHaveLength(1);
});

test('all templates of a class are deleted; an error keeps the rest', async () => {
  existing.add('karpenter.k8s.aws/1').add('karpenter.k8s.aws/2');
  await templates.deleteFor('default');
  expect(ec2.inputs<{ Filters: object[] }>('DescribeLaunchTemplates')[0]?.Filters).toEqual([
    { Name: 'tag:eks:eks-cluster-name', Values: ['demo'] },
    { Name: 'tag:karpenter.k8s.aws/ec2nodeclass', Values: ['default'] },
  ]);
  expect(existing.size).toBe(0);
  existing.add('karpenter.k8s.aws/3');
  ec2.answers['DeleteLaunchTemplate'] = () => {
    throw awsRefusal('UnauthorizedOperation');
  };
  await expect(templates.deleteFor('default')).rejects.toThrow('UnauthorizedOperation');
});

test('a template that an answer brings along, of another class or cluster by its tags, stays', async () => {
  const name = await templates.ensure(templateSpec(), render);
  const tags = (cluster: string, nodeClass: string) => [
    { Key: 'eks:eks-cluster-name', Value: cluster },
    { Key: 'karpenter.k8s.aws/ec2nodeclass', Value: nodeClass },
  ];
  ec2.answers['DescribeLaunchTemplates'] = () => ({
    LaunchTemplates: [
      { LaunchTemplateName: name, Tags: tags('demo', 'default') },
      { LaunchTemplateName: 'karpenter.k8s.aws/1', Tags: tags('other', 'default') },
      { LaunchTemplateName: 'karpenter.k8s.aws/2', Tags: tags('demo', 'second') },
    ],
  });
  await templates.deleteFor('default');
  expect(ec2.inputs('DeleteLaunchTemplate')).toEqual([{ LaunchTemplateName: name }]);
});

test('the size of the user data is a gauge of the class, gone with its templates; large ones are reported', async () => {
  await templates.ensure(templateSpec(), render);
  const gauge = 'karpenter_ec2nodeclasses_userdata_bytes';
  expect(metrics.value(gauge, { nodeclass: 'default' })).toBe(5);
  expect(log.lines.some(({ message }) => message.includes('limit'))).toBe(false);
  await templates.ensure(templateSpec({ imageId: 'ami-2' }), () => Buffer.alloc(15_000).toString('base64'));
  expect(log.lines.some(({ message }) => message.includes('limit'))).toBe(true);
  await templates.deleteFor('default');
  expect(metrics.series(gauge)).toEqual([]);
});
