// Processor architectures: what the images of a node class are for, and what its NodePools ask for.
import type { Evidence } from './evidence.ts';
import { listAt, textAt, textsAt } from './fields.ts';
import type { Stored } from './objects.ts';
import { allowedValues, requirementsOf } from './pools.ts';

const archKey = 'kubernetes.io/arch';
const all = ['amd64', 'arm64'];

/** Architectures of the resolved images; undefined where one of them is for any, or none was resolved. */
export function imageArchitectures({ object }: Stored): string[] | undefined {
  const images = listAt(object, 'status', 'amis');
  const found = images.flatMap((image) => {
    const [own] = listAt(image, 'requirements').filter((one) => textAt(one, 'key') === archKey);
    return own === undefined || textAt(own, 'operator') !== 'In' ? all : textsAt(own, 'values');
  });
  return images.length === 0 || all.every((one) => found.includes(one)) ? undefined : [...new Set(found)];
}

/** Architectures that a pool allows, by its requirement or by the types it lists; undefined where it allows any. */
export function poolArchitectures(pool: Stored, evidence: Evidence): string[] | undefined {
  const excluded = requirementsOf(pool)
    .filter((one) => textAt(one, 'key') === archKey && textAt(one, 'operator') === 'NotIn')
    .flatMap((one) => textsAt(one, 'values'));
  const named = allowedValues(pool, archKey);
  const types = allowedValues(pool, 'node.kubernetes.io/instance-type')?.map((type) => architectureOf(type, evidence));
  const families = allowedValues(pool, 'karpenter.k8s.aws/instance-family')?.map((family) =>
    architectureOf(`${family}.large`, evidence),
  );
  const allowed = all.filter(
    (one) =>
      !excluded.includes(one) && [named, types, families].every((list) => list === undefined || list.includes(one)),
  );
  return allowed.length === all.length ? undefined : allowed;
}

/** Families with Graviton processors have a `g` behind their generation. */
const graviton = /^(?:a1|[a-z]+\d+g[a-z]*)\./;

const architectureOf = (type: string, { machineType }: Evidence): string =>
  machineType(type)?.architecture ?? (graviton.test(type) ? 'arm64' : 'amd64');
