import { expect, test } from 'vitest';
import { type } from '../instance-types/instance-types.testing.ts';
import type { ImageVariant } from './alias.ts';
import { type ImageStatus, variantRequirements, withArchitecture } from './image-requirements.ts';
import { imageFor, imagesFor } from './images-for.ts';

const image = (id: string, variant: ImageVariant, architecture: string): ImageStatus => ({
  id,
  requirements: withArchitecture(variantRequirements(variant, 'AL2023'), architecture) ?? [],
});

const images = [
  image('ami-x86', 'standard', 'x86_64'),
  image('ami-arm', 'standard', 'arm64'),
  image('ami-nvidia', 'nvidia', 'x86_64'),
  image('ami-neuron', 'neuron', 'x86_64'),
];

test.each([
  ['m5.large', 'ami-x86'],
  ['c6g.large', 'ami-arm'],
  ['g4dn.8xlarge', 'ami-nvidia'],
  ['inf2.xlarge', 'ami-neuron'],
])('%s boots %s', (name, id) => {
  expect(imageFor(type(name), images)?.id).toBe(id);
});

test('types are grouped by image; a type that no image fits is left out', () => {
  const groups = imagesFor([type('m5.large'), type('c6g.large'), type('m5.xlarge')], [images[0] as ImageStatus]);
  expect([...groups].map(([id, types]) => [id, types.map(({ name }) => name)])).toEqual([
    ['ami-x86', ['m5.large', 'm5.xlarge']],
  ]);
});

test('the first image of the list that fits is taken; its order is that of the status', () => {
  const newer = { id: 'ami-newer', requirements: images[0]?.requirements ?? [] };
  expect(imageFor(type('m5.large'), [newer, ...images])?.id).toBe('ami-newer');
});

test('an image with nothing but an architecture boots types with and without GPUs', () => {
  const plain = { id: 'ami-own', requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] };
  expect(imageFor(type('g4dn.8xlarge'), [plain])?.id).toBe('ami-own');
  expect(imageFor(type('m5.large'), [plain])?.id).toBe('ami-own');
  expect(imageFor(type('c6g.large'), [plain])).toBeUndefined();
});
