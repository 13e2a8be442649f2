// Which image a type boots: the first of the class's list whose requirements the type meets.
import { type InstanceTypeSpec, meetsRequirements, type Operator } from '../../core/index.ts';
import type { ImageStatus } from './image-requirements.ts';

type TypedBy = Pick<InstanceTypeSpec, 'requirements'>;

export function imageFor(type: TypedBy, images: readonly ImageStatus[]): ImageStatus | undefined {
  return images.find(({ requirements }) =>
    meetsRequirements(
      type.requirements,
      requirements.map(({ key, operator, values }) => ({
        key,
        // The controller wrote the status, in the words of core.
        operator: operator as Operator,
        ...(values === undefined ? {} : { values }),
      })),
    ),
  );
}

/** Types by the id of the image they boot, in the order of the list; types that no image fits are left out. */
export function imagesFor<T extends TypedBy>(types: readonly T[], images: readonly ImageStatus[]): Map<string, T[]> {
  const byImage = new Map<string, T[]>();
  for (const { id } of images) byImage.set(id, []);
  for (const type of types) {
    const image = imageFor(type, images);
    if (image !== undefined) byImage.get(image.id)?.push(type);
  }
  for (const [id, fitting] of byImage) if (fitting.length === 0) byImage.delete(id);
  return byImage;
}
