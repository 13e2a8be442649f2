// The corpus: every rule of our kinds as manifests that must be accepted or rejected. Names of objects are unique, so that
// the whole corpus can be written to one cluster.
import type { CorpusCase, Manifest } from './case.ts';
import { disruptionCases } from './disruption.ts';
import { ec2KubeletCases } from './ec2-kubelet.ts';
import { ec2SelectorCases } from './ec2-selectors.ts';
import { ec2SettingCases } from './ec2-settings.ts';
import { ec2StatusCases } from './ec2-status.ts';
import { nodePoolCases } from './node-pool.ts';
import { nodeCases } from './nodes.ts';
import { otherCases } from './other-kinds.ts';

export type { CorpusCase, Manifest, Rejection } from './case.ts';

const renamed = (manifest: Manifest, name: string): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, name },
});

/** As it would be after a trip over the wire: what is undefined is not there. */
const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export const corpus: readonly CorpusCase[] = [
  ...nodeCases,
  ...nodePoolCases,
  ...disruptionCases,
  ...otherCases,
  ...ec2SelectorCases,
  ...ec2SettingCases,
  ...ec2StatusCases,
  ...ec2KubeletCases,
].map((each, index) => {
  const name = `case-${index}`;
  return wire({
    ...each,
    manifest: renamed(each.manifest, name),
    ...(each.update === undefined ? {} : { update: renamed(each.update, name) }),
  });
});

/** The value at a dotted path; list elements by their index. */
export function valueAt(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined,
      object,
    );
}
