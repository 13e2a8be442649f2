import { expect, test } from 'vitest';
import { builtInMachineSizes } from './machine-sizes.ts';

test('sizes of types as EC2 and the network plugin give them', async () => {
  const sizes = await builtInMachineSizes();
  expect(sizes.get('m5.large')).toEqual({ vcpus: 2, memoryMiB: 8192, maxPods: 29, architecture: 'amd64' });
  expect(sizes.get('t3.medium')?.maxPods).toBe(17);
  expect(sizes.get('m6g.large')?.architecture).toBe('arm64');
});
