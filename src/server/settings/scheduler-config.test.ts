import { expect, test } from 'vitest';
import { parseSchedulerConfig } from './scheduler-config.ts';

const constraint = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' };
const config = (...defaultConstraints: unknown[]) => JSON.stringify({ podTopologySpread: { defaultConstraints } });

test('constraints are read from YAML and JSON; an empty file means no constraint', () => {
  expect(parseSchedulerConfig(config(constraint))).toEqual({ constraints: [constraint] });
  const yaml = `podTopologySpread:
  defaultConstraints:
    - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}`;
  expect(parseSchedulerConfig(yaml)).toEqual({ constraints: [constraint] });
  for (const text of ['', ' ', '{}', 'podTopologySpread: {}'])
    expect(parseSchedulerConfig(text)).toEqual({ constraints: [] });
});

test.each<[string, string]>([
  ['{', 'is neither YAML nor JSON'],
  ['[]', 'must be an object'],
  ['podTopologySpreads: {}', 'podTopologySpreads is not a known field; did you mean podTopologySpread?'],
  ['podTopologySpread: {defaults: []}', 'podTopologySpread.defaults is not a known field'],
  ['podTopologySpread: {defaultConstraints: {}}', 'must be a list'],
  [config({ ...constraint, maxSkew: 0 }), 'defaultConstraints[0].maxSkew must be greater than 0'],
  [config({ ...constraint, topologyKey: '' }), '.topologyKey must be set'],
  [config({ ...constraint, topologyKey: 'a b' }), 'is not a valid label name'],
  [config({ ...constraint, whenUnsatisfiable: 'Never' }), '.whenUnsatisfiable must be one of DoNotSchedule'],
  [config({ ...constraint, labelSelector: {} }), '.labelSelector must not be set'],
  [config({ ...constraint, matchLabelKeys: ['a'] }), '.matchLabelKeys must not be set'],
  [config({ ...constraint, minDomain: 1 }), 'minDomain is not a known field; did you mean minDomains?'],
  [config({ ...constraint, minDomains: 'two' }), 'defaultConstraints[0].minDomains must be a whole number'],
  [config({ ...constraint, nodeTaintsPolicy: 'honor' }), '.nodeTaintsPolicy must be one of Honor, Ignore, not "honor"'],
  [config(constraint, constraint), 'defaultConstraints[1] repeats [0]'],
])('%s is refused', (text, problem) => {
  expect(parseSchedulerConfig(text)).toEqual({ problem: expect.stringContaining(problem) });
});
