import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ec2NodeClassHash } from '../../api/index.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import { type NodeClassBench, openNodeClasses } from '../nodeclass/nodeclass-bench.testing.ts';

const hash = 'karpenter.k8s.aws/ec2nodeclass-hash';
const version = `${hash}-version`;

let bench: NodeClassBench;
beforeEach(async () => {
  bench = await openNodeClasses();
});
afterEach(() => bench.close());

const stamps = async (name: string) => {
  const { annotations = {} } = (await bench.get(nodeClaims, name))?.metadata ?? {};
  return [annotations[hash], annotations[version]];
};

describe('the hash of a node class', () => {
  test('a class has its hash, with the CA bundle in it, and the version', async () => {
    const { spec, metadata } = await bench.classOf();
    expect(metadata.annotations).toMatchObject({ [hash]: ec2NodeClassHash(spec, 'ca'), [version]: 'v6' });
  });

  test('a changed class gets another hash; its claims keep theirs', async () => {
    const before = (await bench.classOf()).metadata.annotations?.[hash];
    await bench.claimOf('a', { metadata: { annotations: { [hash]: before ?? '', [version]: 'v6' } } });
    const after = (await bench.classOf({ userData: 'x' })).metadata.annotations?.[hash];
    expect(after).not.toBe(before);
    expect(await stamps('a')).toEqual([before, 'v6']);
  });

  test('a class of another version is rewritten with its claims; drifted ones keep their hash', async () => {
    await bench.claimOf('old', { metadata: { annotations: { [hash]: '1', [version]: 'v4' } } });
    await bench.claimOf('bare');
    await bench.claimOf('current', { metadata: { annotations: { [hash]: '2', [version]: 'v6' } } });
    const condition = {
      status: 'True',
      reason: 'NodeClassDrift',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await bench.claimOf('drifted', {
      metadata: { annotations: { [hash]: '3', [version]: 'v4' } },
      status: { conditions: [{ type: 'Drifted', ...condition }] } as never,
    });
    await bench.claimOf('elsewhere', { metadata: { annotations: { [hash]: '4', [version]: 'v4' } } }, 'other');
    await bench.apply(ec2NodeClasses, {
      metadata: { name: 'default', annotations: { [hash]: '0', [version]: 'v4' } },
      spec: {
        role: 'r',
        amiSelectorTerms: [{ alias: 'al2023@latest' }],
        subnetSelectorTerms: [{ id: 'subnet-1' }],
        securityGroupSelectorTerms: [{ id: 'sg-1' }],
      },
    });
    await bench.run(1_000);
    const { metadata } = await bench.find();
    const now = metadata.annotations?.[hash];
    expect(metadata.annotations?.[version]).toBe('v6');
    expect(now).not.toBe('0');
    expect(await stamps('old')).toEqual([now, 'v6']);
    expect(await stamps('bare')).toEqual([now, 'v6']);
    expect(await stamps('current')).toEqual(['2', 'v6']);
    expect(await stamps('drifted')).toEqual(['3', 'v6']);
    expect(await stamps('elsewhere')).toEqual(['4', 'v4']);
  });
});
