import { setImmediate } from 'node:timers/promises';
import type { DescribeImagesCommandInput, Image } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import type { EC2NodeClass } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import { awsRefusal, fakeEc2, fakeSsm } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { aliasParameters, parseAlias } from './alias.ts';
import type { ImageStatus } from './image-requirements.ts';
import { Images } from './images.ts';
import { Parameters } from './parameters.ts';

interface World {
  parameters?: Record<string, string>;
  images?: Image[];
  version?: string;
  ssm?: (input: { Name: string }) => unknown;
}

const image = (id: string, over: Partial<Image> = {}): Image => ({
  ImageId: id,
  Name: `name-of-${id}`,
  Architecture: 'x86_64',
  CreationDate: '2026-01-01T00:00:00.000Z',
  State: 'available',
  ...over,
});

/** EC2 as far as ids go: other filters match everything. */
function open(world: World) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const ssm = fakeSsm({
    GetParameter:
      world.ssm ??
      (({ Name }: { Name: string }) => {
        const value = world.parameters?.[Name];
        if (value === undefined) throw awsRefusal('ParameterNotFound');
        return { Parameter: { Value: value } };
      }),
  });
  const ec2 = fakeEc2({
    DescribeImages: ({ Filters = [] }: DescribeImagesCommandInput) => {
      const ids = Filters.find(({ Name }) => Name === 'image-id')?.Values;
      return { Images: (world.images ?? []).filter(({ ImageId = '' }) => ids === undefined || ids.includes(ImageId)) };
    },
  });
  const parameters = new Parameters({ ssm: ssm.client, clock });
  const images = new Images({
    ec2: ec2.client,
    clock,
    parameters,
    kubernetesVersion: async () => world.version ?? '1.32',
    refreshMs: 60_000,
  });
  const list = async (spec: Partial<EC2NodeClass['spec']>, generation = 1): Promise<readonly ImageStatus[]> => {
    const answer = await images.list(nodeClass(spec, { metadata: { generation } }));
    if (answer.kind !== 'found') throw new Error(answer.message);
    return answer.images;
  };
  const questions = () =>
    ec2.inputs<DescribeImagesCommandInput>('DescribeImages').map(({ Filters = [], Owners = [] }) => ({
      filters: Filters.filter(({ Name }) => Name !== 'state').map(({ Name, Values }) => `${Name}=${Values?.join()}`),
      owners: Owners,
    }));
  return { clock, ssm, ec2, parameters, images, list, questions };
}

/** Every parameter of an alias, each naming an image of its own. */
function published(alias: string, version = '1.32') {
  const parsed = parseAlias(alias);
  if (parsed === undefined) throw new Error(`${alias} is not an alias`);
  const parameters: Record<string, string> = {};
  const images: Image[] = [];
  for (const { name } of aliasParameters(parsed, version)) {
    const id = `ami-${images.length + 1}`;
    parameters[name] = id;
    images.push(image(id, { Architecture: name.includes('arm64') ? 'arm64' : 'x86_64' }));
  }
  return { parameters, images };
}

const alias = (text: string): Partial<EC2NodeClass['spec']> => ({ amiSelectorTerms: [{ alias: text }] });
const keysOf = ({ requirements }: ImageStatus) =>
  requirements.map(({ key, operator, values }) =>
    `${key.split(/[/-]/).slice(-2).join('-')} ${operator} ${values ?? ''}`.trim(),
  );

describe('names of parameters', () => {
  const namesOf = (text: string, version: string) => {
    const parsed = parseAlias(text);
    return parsed === undefined ? [] : aliasParameters(parsed, version).map(({ name }) => name);
  };
  test.each([
    [
      'al2@latest',
      [
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id',
      ],
    ],
    [
      'al2@v20240625',
      [
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/amazon-eks-node-1.32-v20240625/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20240625/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20240625/image_id',
      ],
    ],
    [
      'al2023@v20240625',
      ['x86_64/standard', 'arm64/standard', 'x86_64/nvidia', 'arm64/nvidia', 'x86_64/neuron'].map(
        (place) =>
          `/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/${place}/amazon-eks-node-al2023-${place.replace('/', '-')}-1.32-v20240625/image_id`,
      ),
    ],
    [
      'bottlerocket@v1.20.4',
      ['1.32/x86_64', '1.32/arm64', '1.32-nvidia/x86_64', '1.32-nvidia/arm64'].map(
        (place) => `/aws/service/bottlerocket/aws-k8s-${place}/1.20.4/image_id`,
      ),
    ],
    ...['latest', 'v1.20.4'].map((version): [string, string[]] => [
      `bottlerocket@${version}-fips`,
      ['1.32-fips/x86_64', '1.32-fips/arm64', '1.32-nvidia-fips/x86_64', '1.32-nvidia-fips/arm64'].map(
        (place) => `/aws/service/bottlerocket/aws-k8s-${place}/${version.replace('v', '')}/image_id`,
      ),
    ]),
    [
      'windows2022@latest',
      ['/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.32/image_id'],
    ],
  ])('%s', (text, names) => {
    expect(namesOf(text, '1.32')).toEqual(names);
  });

  test('a version of Bottlerocket may be written with or without its v', () => {
    expect(namesOf('bottlerocket@1.20.4', '1.32')).toEqual(namesOf('bottlerocket@v1.20.4', '1.32'));
  });
});

describe('an alias with every parameter there', () => {
  test('al2023 gives five entries, with architecture, GPU and accelerator in that order', async () => {
    const { list } = open(published('al2023@latest'));
    expect((await list(alias('al2023@latest'))).map(keysOf)).toEqual([
      ['kubernetes.io-arch In amd64', 'gpu-count DoesNotExist', 'accelerator-count DoesNotExist'],
      ['kubernetes.io-arch In arm64', 'gpu-count DoesNotExist', 'accelerator-count DoesNotExist'],
      ['kubernetes.io-arch In amd64', 'gpu-count Exists'],
      ['kubernetes.io-arch In arm64', 'gpu-count Exists'],
      ['kubernetes.io-arch In amd64', 'accelerator-count Exists'],
    ]);
  });

  test('bottlerocket gives five, its standard image for x86 twice', async () => {
    const { list } = open(published('bottlerocket@latest'));
    const images = await list(alias('bottlerocket@latest'));
    expect(images.map(({ id }) => id)).toEqual(['ami-1', 'ami-1', 'ami-2', 'ami-3', 'ami-4']);
    expect(images.slice(0, 2).map(keysOf)).toContainEqual(['kubernetes.io-arch In amd64', 'accelerator-count Exists']);
  });

  test('al2 gives four, its GPU image twice', async () => {
    const { list } = open(published('al2@latest'));
    const images = await list(alias('al2@latest'));
    expect(images.map(({ id }) => id)).toEqual(['ami-1', 'ami-2', 'ami-3', 'ami-3']);
  });

  test.each([
    ['windows2019', '10.0.17763'],
    ['windows2022', '10.0.20348'],
    ['windows2025', '10.0.26100'],
  ])('%s gives one, for its operating system and build', async (family, build) => {
    const { list } = open({ ...published(`${family}@latest`, '1.35'), version: '1.35' });
    expect(await list(alias(`${family}@latest`))).toEqual([
      {
        id: 'ami-1',
        name: 'name-of-ami-1',
        requirements: [
          { key: 'kubernetes.io/os', operator: 'In', values: ['windows'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
          { key: 'node.kubernetes.io/windows-build', operator: 'In', values: [build] },
        ],
      },
    ]);
  });

  test('the ids are asked for in one question without owners, deprecated images included', async () => {
    const { list, questions, ec2 } = open(published('al2023@latest'));
    await list(alias('al2023@latest'));
    expect(questions()).toEqual([{ filters: ['image-id=ami-1,ami-2,ami-3,ami-4,ami-5'], owners: [] }]);
    expect(ec2.inputs('DescribeImages')).toMatchObject([{ IncludeDeprecated: true, MaxResults: 1000 }]);
  });
});

test('bottlerocket with only its two standard parameters gives three entries', async () => {
  const { parameters, images } = published('bottlerocket@latest');
  const standard = Object.fromEntries(Object.entries(parameters).filter(([name]) => !name.includes('nvidia')));
  const { list } = open({ parameters: standard, images });
  expect(await list(alias('bottlerocket@latest'))).toHaveLength(3);
});

test('an alias none of whose parameters exist is an error', async () => {
  const { list } = open({});
  await expect(list(alias('al2023@latest'))).rejects.toThrow(
    /^failed to discover any AMIs for alias \(alias=al2023@latest, kubernetes=1\.\d+\): EKS publishes none .* newer version/,
  );
});

test.each([
  ['al2@latest', '1.33', 'AL2 aliases are no longer supported on EKS 1.33+'],
  ['al2@latest', '1.34', 'AL2 aliases are no longer supported on EKS 1.33+'],
  ['windows2025@latest', '1.34', 'Windows Server 2025 requires EKS version 1.35 or higher, current version: 1.34'],
  ['al2023@latest-fips', '1.37', "Amazon publishes no FIPS images of AL2023. Use 'bottlerocket@latest-fips', or"],
])('%s is not supported on %s', async (text, version, message) => {
  const { images } = open({ ...published(text, version), version });
  expect(await images.list(nodeClass(alias(text)))).toEqual({
    kind: 'unsupportedAlias',
    message: expect.stringContaining(message),
  });
});

test.each([
  ['al2@latest', '1.32'],
  ['al2023@latest', '1.33'],
  ['windows2025@latest', '1.35'],
])('%s works on %s', async (text, version) => {
  const { list } = open({ ...published(text, version), version });
  expect((await list(alias(text))).length).toBeGreaterThan(0);
});

describe('questions to EC2', () => {
  test.each<[string, EC2NodeClass['spec']['amiSelectorTerms'], unknown]>([
    ['tags: no owners', [{ tags: { a: 'b', c: '*' } }], [{ filters: ['tag:a=b', 'tag-key=c'], owners: [] }]],
    ['name: our own and Amazon’s', [{ name: 'my-*' }], [{ filters: ['name=my-*'], owners: ['self', 'amazon'] }]],
    ['two ids: one question', [{ id: 'ami-1' }, { id: 'ami-2' }], [{ filters: ['image-id=ami-1,ami-2'], owners: [] }]],
    [
      'two owners: two questions',
      [{ owner: 'self' }, { owner: '111111111111' }],
      [
        { filters: [], owners: ['self'] },
        { filters: [], owners: ['111111111111'] },
      ],
    ],
    [
      'the same name of two owners: two questions',
      [
        { name: 'x', owner: '111111111111' },
        { name: 'x', owner: 'self' },
      ],
      [
        { filters: ['name=x'], owners: ['111111111111'] },
        { filters: ['name=x'], owners: ['self'] },
      ],
    ],
    ['tags and owner', [{ tags: { a: 'b' }, owner: 'self' }], [{ filters: ['tag:a=b'], owners: ['self'] }]],
  ])('%s', async (_, amiSelectorTerms, expected) => {
    const { list, questions } = open({});
    await list({ amiFamily: 'AL2023', amiSelectorTerms });
    expect(questions()).toEqual(expected);
  });

  test('each generation of a class asks for itself, and again after the refresh interval', async () => {
    const { list, questions, clock } = open({ images: [image('ami-1')] });
    const spec = { amiFamily: 'Custom', amiSelectorTerms: [{ id: 'ami-1' }] } as const;
    const terms = { ...spec, amiSelectorTerms: [...spec.amiSelectorTerms] };
    await list(terms);
    await list(terms);
    await list(terms, 2);
    expect(questions()).toHaveLength(2);
    await clock.runFor(60_000);
    await list(terms);
    expect(questions()).toHaveLength(3);
  });
});

describe('choice among images', () => {
  const all = { amiFamily: 'Custom' as const, amiSelectorTerms: [{ tags: { a: 'b' } }] };
  const chosen = async (...images: Image[]) => (await open({ images }).list(all)).map(({ id }) => id);
  const past = '2025-06-01T00:00:00.000Z';

  test('two images of one architecture: only the newer; of two architectures: both, newest first', async () => {
    const older = image('ami-1', { CreationDate: past });
    expect(await chosen(older, image('ami-2'))).toEqual(['ami-2']);
    expect(await chosen(older, image('ami-2', { Architecture: 'arm64' }))).toEqual(['ami-2', 'ami-1']);
  });

  test('an older one that is not deprecated beats a newer deprecated one', async () => {
    expect(await chosen(image('ami-1', { CreationDate: past }), image('ami-2', { DeprecationTime: past }))).toEqual([
      'ami-1',
    ]);
  });

  test('of equal age the one that is not deprecated wins whatever its name', async () => {
    const deprecated = image('ami-1', { Name: 'z', DeprecationTime: past });
    expect(await chosen(deprecated, image('ami-2', { Name: 'a' }))).toEqual(['ami-2']);
  });

  test('of deprecated ones the newer; of equal age the greater name', async () => {
    const deprecated = { DeprecationTime: past };
    expect(await chosen(image('ami-1', deprecated), image('ami-2', { ...deprecated, CreationDate: past }))).toEqual([
      'ami-1',
    ]);
    expect(await chosen(image('ami-1', { Name: 'b' }), image('ami-2', { Name: 'a' }))).toEqual(['ami-1']);
  });

  test('an image in any state but available is ignored', async () => {
    expect(await chosen(image('ami-1', { State: 'pending' }), image('ami-2', { State: 'disabled' }))).toEqual([]);
  });

  test('an architecture Kubernetes has no name for is dropped', async () => {
    expect(await chosen(image('ami-1', { Architecture: 'x86_64_mac' }))).toEqual([]);
  });

  test('an image without a date comes last; equal dates are ordered by id', async () => {
    const undated = image('ami-1', { CreationDate: undefined });
    expect(await chosen(undated, image('ami-2', { Architecture: 'arm64' }))).toEqual(['ami-2', 'ami-1']);
    expect(await chosen(image('ami-2'), image('ami-1', { Architecture: 'arm64' }))).toEqual(['ami-1', 'ami-2']);
  });

  test('a deprecation that comes to pass is reported at the next look, and gone with a newer image', async () => {
    const images = [image('ami-1', { DeprecationTime: '2026-01-01T00:00:30.000Z' })];
    const { list, clock } = open({ images });
    expect((await list(all))[0]).not.toHaveProperty('deprecated');
    await clock.runFor(60_000);
    expect((await list(all))[0]).toMatchObject({ id: 'ami-1', deprecated: true });
    images.push(image('ami-2'));
    await clock.runFor(60_000);
    expect((await list(all))[0]).not.toHaveProperty('deprecated');
  });

  test('images found by other terms than an alias only have an architecture', async () => {
    const { list } = open({
      images: [image('ami-1', { Tags: [{ Key: 'karpenter.k8s.aws/instance-gpu-count', Value: '1' }] })],
    });
    expect((await list(all)).map(keysOf)).toEqual([['kubernetes.io-arch In amd64']]);
  });
});

describe('ssmParameter', () => {
  const spec = { amiFamily: 'Custom' as const, amiSelectorTerms: [{ ssmParameter: '/mine' }, { id: 'ami-2' }] };

  test('its value is asked for together with ids', async () => {
    const { list, questions } = open({ parameters: { '/mine': 'ami-1' } });
    await list(spec);
    expect(questions()).toEqual([{ filters: ['image-id=ami-1,ami-2'], owners: [] }]);
  });

  test.each([
    ['missing', {}],
    ['no image', { '/mine': 'something' }],
  ])('one that is %s is ignored without an error', async (_, parameters) => {
    const { list, questions } = open({ parameters });
    await list(spec);
    expect(questions()).toEqual([{ filters: ['image-id=ami-2'], owners: [] }]);
  });

  test('only a missing parameter and nothing else: no question at all', async () => {
    const { list, questions } = open({});
    expect(await list({ ...spec, amiSelectorTerms: [{ ssmParameter: '/mine' }] })).toEqual([]);
    expect(questions()).toEqual([]);
  });

  test('any other refusal of SSM is an error', async () => {
    const { list } = open({
      ssm: () => {
        throw awsRefusal('AccessDeniedException');
      },
    });
    await expect(list(spec)).rejects.toThrow('AccessDeniedException');
  });

  test('values are kept: a user’s own for five minutes, Amazon’s for a day', async () => {
    const { list, ssm, clock } = open({
      ...published('al2@latest'),
      parameters: { '/mine': 'ami-1', ...published('al2@latest').parameters },
    });
    await list(spec);
    await list(alias('al2@latest'), 2);
    expect(ssm.calls).toHaveLength(4);
    await clock.runFor(5 * 60_000);
    await list(spec, 3);
    expect(ssm.calls).toHaveLength(5);
    await clock.runFor(24 * 3_600_000 - 5 * 60_000 - 1);
    await list(alias('al2@latest'), 4);
    expect(ssm.calls).toHaveLength(5);
    await clock.runFor(1);
    await list(alias('al2@latest'), 5);
    expect(ssm.calls).toHaveLength(8);
  });
});

test('a refused DescribeImages is an error', async () => {
  const { list, ec2 } = open(published('al2023@latest'));
  ec2.answers['DescribeImages'] = () => {
    throw awsRefusal('InternalError', 'down', 500);
  };
  await expect(list(alias('al2023@latest'))).rejects.toThrow('down');
});
