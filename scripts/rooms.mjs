// Who may import whom, as data. The import rules (.dependency-cruiser.mjs) and the table of ARCHITECTURE.md are both
// checked against this list, so there is one place to change when a room is added.

/** @type {{ room: string, imports: string[], typesOf?: string[], why: string }[]} */
export const rooms = [
  { room: 'base', imports: [], why: 'words without a domain' },
  { room: 'api', imports: ['base'], why: 'the objects users write' },
  { room: 'core', imports: ['base'], why: 'the decisions' },
  { room: 'failures', imports: ['base'], why: 'the failure modes of the field: signs, checks, causes, fixes' },
  { room: 'ports', imports: ['base'], typesOf: ['core', 'api'], why: 'what we ask of the world' },
  { room: 'state', imports: ['base', 'core', 'api'], typesOf: ['ports'], why: 'the cluster as we believe it to be' },
  {
    room: 'view',
    imports: ['base', 'core', 'api', 'state'],
    typesOf: ['ports'],
    why: 'what screens show: pure functions from the model',
  },
  { room: 'runtime', imports: ['base', 'ports'], why: 'the loop' },
  {
    room: 'controllers',
    imports: ['base', 'core', 'api', 'ports', 'state', 'runtime'],
    why: 'one folder per controller, one file per step',
  },
  { room: 'kube', imports: ['base', 'api', 'ports'], why: 'adapter: a real API server' },
  { room: 'aws', imports: ['base', 'core', 'api', 'failures', 'ports'], why: 'adapter: EC2 and its neighbours' },
  {
    room: 'aws-controllers',
    imports: ['base', 'core', 'api', 'failures', 'ports', 'state', 'runtime', 'controllers', 'aws'],
    why: 'controllers that only the AWS provider needs',
  },
  {
    room: 'sim',
    imports: ['base', 'core', 'api', 'ports', 'runtime'],
    why: 'adapter: the embedded cluster and the simulated cloud; its controllers run on the same loop as ours',
  },
  { room: 'telemetry', imports: ['base', 'ports'], why: 'adapter: metrics and logs' },
  {
    room: 'server',
    imports: [
      'base',
      'core',
      'api',
      'failures',
      'ports',
      'state',
      'view',
      'runtime',
      'controllers',
      'kube',
      'aws',
      'aws-controllers',
      'sim',
      'telemetry',
    ],
    why: 'app: the controller process, where parts are wired',
  },
  {
    room: 'cli',
    imports: [
      'base',
      'core',
      'api',
      'failures',
      'ports',
      'state',
      'view',
      'runtime',
      'controllers',
      'kube',
      'aws',
      'aws-controllers',
      'sim',
      'telemetry',
      'server',
    ],
    why: 'app: the command line',
  },
  {
    room: 'web',
    imports: ['view'],
    typesOf: ['core', 'ports'],
    why: "app: the dashboard's page, in the browser",
  },
];

/** Files of a room that any room allowed by `namesFor` may import directly: constants without behaviour. */
export const names = { file: 'src/api/names.ts', rooms: ['core', 'ports', 'runtime', 'telemetry'] };

/** A second door: what the command line needs of AWS without loading the AWS SDK, which takes half a second. */
export const lightDoor = 'src/aws/catalogue.ts';

/** Other doors: the cluster as it travels and decisions in words, without imports, so that the page holds nothing else. */
export const wireDoors = ['src/view/wire.ts', 'src/view/decision-text.ts', 'src/view/money-text.ts'];
