// Pods: defaults, admission, rules.
import {
  container,
  core,
  del,
  get,
  gone,
  interaction,
  type Json,
  jsonPatch,
  merge,
  pod,
  post,
  put,
  until,
} from './calls.ts';

const create = (ns: string, spec: object, meta: object = {}) => post(core(ns, 'pods'), pod('p', spec, meta));
const resources = (limits: object | undefined, requests: object | undefined) => ({
  containers: [container({ resources: { ...(limits && { limits }), ...(requests && { requests }) } })],
});
const priorityClass = (name: string, value: number, fields: object = {}) =>
  post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value, ...fields });
const limitRange = (ns: string, limits: object[]) =>
  post(core(ns, 'limitranges'), { metadata: { name: 'lr' }, spec: { limits } });
const refused = (name: string, ...specs: object[]) => interaction(name, (ns) => specs.map((spec) => create(ns, spec)));
const affinity = (term: object) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
});

export const pods = [
  interaction('a pod with nothing but an image', (ns) => [create(ns, {}), get(core(ns, 'pods', 'p'))]),
  interaction('a pod with most things', (ns) => [
    create(ns, {
      initContainers: [
        { name: 'init', image: 'i' },
        { name: 'side', image: 'i:2', restartPolicy: 'Always' },
      ],
      containers: [
        container({
          image: 'example.com/app',
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
          env: [
            { name: 'A', value: '' },
            { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
          startupProbe: { exec: { command: ['true'] } },
          lifecycle: { preStop: { httpGet: { port: 80 } } },
          volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } },
        }),
      ],
      volumes: [
        { name: 'tmp' },
        { name: 'cfg', configMap: { name: 'x' } },
        { name: 'sec', secret: { secretName: 'x' } },
        { name: 'host', hostPath: { path: '/x' } },
        { name: 'pvc', persistentVolumeClaim: { claimName: 'c' } },
      ],
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
      ],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
        },
      ],
      hostNetwork: false,
      automountServiceAccountToken: false,
    }),
  ]),
  interaction('quality of service', (ns) => [
    create(ns, resources({ cpu: '1', memory: '1Gi' }, undefined)),
    post(core(ns, 'pods'), pod('q', resources(undefined, { cpu: '100m' }))),
  ]),
  interaction('quantities are written in their canonical form', (ns) => [
    create(ns, resources({ cpu: '1000m', memory: '1024Mi', 'ephemeral-storage': '1e3' }, { cpu: 0.25, memory: 1024 })),
    post(core(ns, 'pods'), pod('bad', resources(undefined, { cpu: 'lots' }))),
  ]),
  interaction('host network takes host ports', (ns) => [
    create(ns, { hostNetwork: true, containers: [container({ ports: [{ containerPort: 8080 }] })] }),
  ]),
  refused('no containers', { containers: [] }, { containers: undefined }),
  refused(
    'containers with bad names and images',
    { containers: [{ image: 'x' }] },
    { containers: [{ name: 'Bad', image: 'x' }] },
    { containers: [{ name: 'a' }] },
    {
      containers: [
        { name: 'a', image: 'x' },
        { name: 'a', image: 'y' },
      ],
    },
  ),
  refused('restart and dns policies', { restartPolicy: 'Sometimes' }, { dnsPolicy: 'Sometimes' }),
  refused('resources out of order', resources({ cpu: '1' }, { cpu: '2' })),
  refused('negative resources', resources(undefined, { cpu: '-1' })),
  refused('unknown resources', resources(undefined, { gpu: '1' })),
  refused(
    'extended resources',
    resources(undefined, { 'example.com/gpu': '1' }),
    resources({ 'example.com/gpu': '2' }, { 'example.com/gpu': '1' }),
    resources({ 'example.com/gpu': '500m' }, undefined),
  ),
  refused(
    'ports',
    { containers: [container({ ports: [{}] })] },
    { containers: [container({ ports: [{ containerPort: 70000 }] })] },
    { containers: [container({ ports: [{ containerPort: 1, protocol: 'ICMP' }] })] },
  ),
  refused(
    'volume mounts',
    { containers: [container({ volumeMounts: [{ name: 'none', mountPath: '/x' }] })] },
    { volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'x' } }] },
    { volumes: [{ name: 'v' }, { name: 'v' }] },
  ),
  refused(
    'tolerations',
    { tolerations: [{ operator: 'Equal' }] },
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] },
    { tolerations: [{ key: 'a', effect: 'Never' }] },
    { tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }] },
  ),
  refused(
    'topology spread',
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }] },
    { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'Never' }] },
    {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }],
    },
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
  ),
  refused(
    'node affinity',
    affinity({ matchExpressions: [{ key: 'a', operator: 'In' }] }),
    affinity({ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }),
    affinity({ matchExpressions: [{ key: 'a', operator: 'Near', values: ['x'] }] }),
    affinity({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1', '2'] }] }),
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
    {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
          ],
        },
      },
    },
  ),
  refused(
    'pod affinity',
    {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { a: 'b' } } }],
        },
      },
    },
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'a', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
          ],
        },
      },
    },
  ),
  refused('deadlines and grace', { activeDeadlineSeconds: 0 }, { terminationGracePeriodSeconds: -5 }),
  interaction('a service account that does not exist', (ns) => [create(ns, { serviceAccountName: 'nobody' })]),
  interaction('priority comes from the class', (ns) => [
    priorityClass(`high-${ns}`, 1000, { preemptionPolicy: 'Never' }),
    create(ns, { priorityClassName: `high-${ns}` }),
    post(core(ns, 'pods'), pod('q', { priorityClassName: 'none' })),
    post(core(ns, 'pods'), pod('q', { priority: 5 })),
  ]),
  interaction('system priority', (ns) => [create(ns, { priorityClassName: 'system-cluster-critical' })]),
  interaction('limit ranges give defaults', (ns) => [
    limitRange(ns, [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '100m', memory: '64Mi' } }]),
    create(ns, {}),
    post(core(ns, 'pods'), pod('q', resources({ cpu: '1' }, undefined))),
  ]),
  interaction('limit ranges bound containers', (ns) => [
    limitRange(ns, [{ type: 'Container', min: { cpu: '200m' }, max: { cpu: '1' } }]),
    create(ns, resources({ cpu: '2' }, { cpu: '1' })),
    create(ns, resources({ cpu: '150m' }, { cpu: '100m' })),
    create(ns, {}),
  ]),
  interaction('limit ranges bound pods', (ns) => [
    limitRange(ns, [{ type: 'Pod', max: { memory: '1Gi' } }]),
    create(ns, resources({ memory: '2Gi' }, undefined)),
    create(ns, {}),
  ]),
  interaction('limit ranges are checked', (ns) => [
    limitRange(ns, [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }]),
  ]),
  interaction('scheduling gates', (ns) => [
    create(ns, { schedulingGates: [{ name: 'wait' }] }),
    jsonPatch(core(ns, 'pods', 'p'), [{ op: 'add', path: '/spec/schedulingGates/-', value: { name: 'more' } }]),
    merge(core(ns, 'pods', 'p'), { spec: { schedulingGates: [], nodeSelector: { a: 'b' } } }),
  ]),
  interaction('what of a pod may change', (ns) => [
    create(ns, {}),
    merge(core(ns, 'pods', 'p'), { metadata: { labels: { a: 'b' } } }),
    jsonPatch(core(ns, 'pods', 'p'), [{ op: 'replace', path: '/spec/containers/0/image', value: 'other:2' }]),
    merge(core(ns, 'pods', 'p'), { spec: { activeDeadlineSeconds: 100 } }),
    jsonPatch(core(ns, 'pods', 'p'), [
      { op: 'add', path: '/spec/tolerations/-', value: { key: 'x', operator: 'Exists' } },
    ]),
    merge(core(ns, 'pods', 'p'), { spec: { nodeName: 'elsewhere' } }),
    merge(core(ns, 'pods', 'p'), { spec: { restartPolicy: 'Never' } }),
    merge(core(ns, 'pods', 'p'), { spec: { tolerations: [] } }),
  ]),
  interaction('a pod on no node goes at once', (ns) => [
    create(ns, { schedulerName: 'none' }),
    del(core(ns, 'pods', 'p')),
    get(core(ns, 'pods', 'p')),
  ]),
  interaction('a pod on a node gets its grace', (ns) => [
    create(ns, { nodeName: 'diff-node', terminationGracePeriodSeconds: 20 }),
    del(core(ns, 'pods', 'p')),
    del(core(ns, 'pods', 'p'), { gracePeriodSeconds: 5 }),
    del(core(ns, 'pods', 'p'), { gracePeriodSeconds: 60 }),
    del(core(ns, 'pods', 'p'), { gracePeriodSeconds: 0 }),
    gone(core(ns, 'pods', 'p')),
  ]),
  interaction('status is separate', (ns) => [
    create(ns, { schedulerName: 'none' }),
    merge(core(ns, 'pods', 'p'), { status: { phase: 'Running' } }),
    merge(core(ns, 'pods/p/status', undefined), {
      status: { phase: 'Running', message: 'hello' },
      spec: { nodeName: 'x' },
    }),
    get(core(ns, 'pods/p/status', undefined)),
    (past) => put(core(ns, 'pods/p/status', undefined), { ...(past[3]?.body as Json), status: { phase: 'Succeeded' } }),
  ]),
  interaction('binding', (ns) => [
    create(ns, { schedulerName: 'none' }),
    post(core(ns, 'pods/p/binding', undefined), {
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'diff-bound' },
    }),
    get(core(ns, 'pods', 'p')),
    post(core(ns, 'pods/p/binding', undefined), { metadata: { name: 'p' }, target: { kind: 'Node', name: 'other' } }),
    post(core(ns, 'pods/none/binding', undefined), {
      metadata: { name: 'none' },
      target: { kind: 'Node', name: 'other' },
    }),
  ]),
  interaction('binding a gated or unnamed target', (ns) => [
    create(ns, { schedulerName: 'none', schedulingGates: [{ name: 'g' }] }),
    post(core(ns, 'pods/p/binding', undefined), { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }),
    post(core(ns, 'pods/p/binding', undefined), { metadata: { name: 'p' }, target: { kind: 'Node' } }),
  ]),
  interaction('a pod template object', (ns) => [
    post(core(ns, 'podtemplates'), {
      metadata: { name: 't' },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container({})] } },
    }),
    merge(core(ns, 'podtemplates', 't'), { template: { spec: { nodeSelector: { a: 'b' } } } }),
  ]),
  interaction('pods of a vanished service account namespace settle', (ns) => [
    until(core(ns, 'serviceaccounts', 'default'), () => true),
  ]),
];
