import { expect, test } from 'vitest';
import { settingsOfValues } from './settings.ts';

const stops = async (values: object): Promise<string[]> =>
  (await settingsOfValues(values)).findings.flatMap(({ level, about, text }) =>
    level === 'stop' ? [`${about}: ${text}`] : [],
  );

test.each([
  [{ replicas: 'many' }, 'replicas: the chart refuses this value: "many" does not match ^[0-9]+$'],
  [{ hostNetwork: 1 }, 'hostNetwork: the chart refuses this value: it must be true or false or text, and is 1'],
  [
    { imagePullPolicy: 'Sometimes' },
    'imagePullPolicy: the chart refuses this value: it must be one of "Always", "IfNotPresent", "Never", and is "Sometimes"',
  ],
  [{ podLabels: { team: 7 } }, 'podLabels: the chart refuses this value: team: it must be text, and is 7'],
  [{ logOutputPaths: ['stdout', 1] }, 'logOutputPaths: the chart refuses this value: 1: it must be text, and is 1'],
  [
    { controller: { metrics: { port: 70_000 } } },
    'controller.metrics.port: the chart refuses this value: it must be 65535 at most, and is 70000',
  ],
  [
    { settings: { batchMaxDuration: 10 } },
    'settings.batchMaxDuration: the chart refuses this value: it must be text, and is 10',
  ],
])('%j is refused as by the chart', async (values, wanted) => {
  expect(await stops(values)).toEqual([wanted]);
});

test('what is taken away by null, kept for anchors or meant for charts above is not looked at', async () => {
  const values = {
    enabled: true,
    global: {},
    'x-a': 1,
    _b: [],
    '.c': {},
    replicas: null,
    settings: { clusterName: '{{ .x }}' },
  };
  expect(await stops(values)).toEqual([]);
});

test('values of an umbrella chart are recognised as such', async () => {
  const { findings } = await settingsOfValues({ karpenter: { settings: { clusterName: 'one' } } });
  expect(findings).toEqual([
    {
      level: 'stop',
      about: 'karpenter',
      text: 'the chart does not have this value and refuses it',
      fix: 'a file with what stands under karpenter, if these are values of an umbrella chart',
    },
  ]);
});
