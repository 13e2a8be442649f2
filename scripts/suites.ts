// What `npm run check`, `npm test` and `npm run test:long` consist of, in one list each.
import { existsSync, globSync } from 'node:fs';
import type { ComponentName } from '../test/setup/components.ts';
import type { Task } from './tasks.ts';

const tsc = ['node', 'node_modules/@typescript/native/bin/tsc', '--pretty', 'false', '-p'];
const vitest = (project: string): string[] => ['vitest', 'run', '--project', project];

const roomTasks: Task[] = globSync('src/*/tsconfig.json')
  .filter((file) => globSync(`${file.replace('/tsconfig.json', '')}/**/*.ts`).length > 0)
  .sort()
  .map((file) => ({ name: `types: ${file.split('/')[1]}`, command: [...tsc, file] }));

export const checkTasks: Task[] = [
  { name: 'unit and property tests', command: vitest('unit'), countsTests: true },
  { name: 'format', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types: everything', command: [...tsc, 'tsconfig.json'] },
  ...roomTasks,
  { name: 'import rules', command: ['node', 'scripts/import-rules.ts'] },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'licences', command: ['node', 'scripts/licences.ts'] },
  { name: 'generated files', command: ['node', 'scripts/generate.ts', '--check'] },
];

/** What a campaign or a comparison finds once it has found: no second try. */
const onceOnly = new Set(['campaigns', 'differential', 'scenario', 'planner']);

const suite = (project: string, folders: string[], needs: ComponentName[] = []): Task[] =>
  folders.some((folder) => existsSync(folder) && globSync(`${folder}/**/*.test.ts`).length > 0)
    ? [
        {
          name: `${project} suite`,
          command: vitest(project),
          countsTests: true,
          stage: 2,
          needs,
          beside: needs.length === 0,
          secondTry: !onceOnly.has(project),
        },
      ]
    : [];

/** The checks beside the suites, which leave processors idle while they wait for their components. */
const checksBeside = checkTasks.map((task): Task => ({ ...task, stage: 2, beside: true }));

export const testTasks: Task[] = [
  { name: 'build', command: ['node', 'scripts/build.ts'], stage: 1 },
  ...checksBeside.filter(({ countsTests }) => countsTests),
  // Three run at a time; in this order their lanes end at about the same time.
  ...suite('rig', ['test/rig', 'test/kube'], ['control plane']),
  ...suite('ec2', ['test/ec2'], ['control plane', 'AWS emulator']),
  ...suite('install', ['test/install'], ['control plane', 'Helm', 'image sources', "Karpenter's charts"]),
  ...suite('differential', ['test/differential'], ['control plane']),
  ...suite('end-to-end', ['test/end-to-end'], ['control plane']),
  ...suite('aws', ['test/aws'], ['AWS emulator']),
  ...suite('campaigns', ['test/campaigns'], ['control plane', 'AWS emulator', "Karpenter's charts"]),
  ...suite('release', ['test/release'], ['Helm', 'image sources', 'Terraform parser']),
  ...suite('chart', ['test/chart'], ['Helm', "Karpenter's charts"]),
  ...suite('scenario', ['test/scenario']),
  // Waits for pages as well, so it starts before what only computes.
  ...suite('browser', ['test/browser']),
  ...suite('cli', ['test/cli']),
  ...suite('planner', ['test/planner']),
  // Short ones last: they fill what the long ones leave.
  ...checksBeside.filter(({ countsTests }) => !countsTests),
];

const long = (project: string, folders: string[], more: Partial<Task>): Task[] =>
  folders.some((folder) => globSync(`${folder}/**/*.long.test.ts`).length > 0)
    ? [{ name: `${project} suite`, command: vitest(project), countsTests: true, stage: 2, ...more }]
    : [];

export const longTasks: Task[] = [
  ...long(
    'long',
    [
      'test/rig',
      'test/kube',
      'test/end-to-end',
      'test/aws',
      'test/ec2',
      'test/install',
      'test/release',
      'test/takeover',
    ],
    {
      needs: ['control plane', 'AWS emulator', 'Helm', 'image sources', 'Karpenter', "Karpenter's charts", 'cosign'],
    },
  ),
  ...long('long-campaigns', ['test/campaigns'], { needs: ['control plane', 'AWS emulator', "Karpenter's charts"] }),
  { name: 'long-properties suite', command: vitest('long-properties'), countsTests: true, stage: 2, beside: true },
  ...long('long-virtual', ['test/scenario', 'test/planner'], { beside: true }),
];
