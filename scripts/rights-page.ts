// The rights of the controller as manifests: docs/reference/rbac.md and examples/aws/rbac.yaml, from the one table.
import {
  type Circumstance,
  clusterRights,
  defaultLeaseName,
  dnsRights,
  leaseRights,
  type Right,
} from '../src/server/index.ts';
import { aligned } from './markdown-table.ts';

interface Subject {
  account: string;
  namespace: string;
}

const inList = (items: readonly string[]): string => `[${items.map((each) => (each === '' ? '""' : each)).join(', ')}]`;

/** Rules of a role as YAML, one per right, each with its reason. */
export function rulesYaml(rights: readonly Right[], indent = '  '): string {
  return rights
    .map(({ group, resources, names, verbs, why }) =>
      [
        ...(why === undefined ? [] : [`${indent}# ${why}`]),
        `${indent}- apiGroups: ${inList([group])}`,
        `${indent}  resources: ${inList(resources)}`,
        ...(names === undefined ? [] : [`${indent}  resourceNames: ${inList(names)}`]),
        `${indent}  verbs: ${inList(verbs)}`,
      ].join('\n'),
    )
    .join('\n');
}

const always = (rights: readonly Right[]): Right[] => rights.filter(({ when }) => when === undefined);
const only = (rights: readonly Right[], wanted: Circumstance): Right[] => rights.filter(({ when }) => when === wanted);

function role(name: string, rights: readonly Right[], { account, namespace }: Subject, inNamespace?: string): string {
  const cluster = inNamespace === undefined ? 'Cluster' : '';
  const meta = `metadata:\n  name: ${name}${inNamespace === undefined ? '' : `\n  namespace: ${inNamespace}`}`;
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${cluster}Role
${meta}
rules:
${rulesYaml(rights)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ${cluster}RoleBinding
${meta}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${cluster}Role
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: ${account}
    namespace: ${namespace}
`;
}

const fenced = (yaml: string): string => `\`\`\`yaml\n${yaml}\`\`\`\n`;

export function rightsPage(): string {
  const subject = { account: 'kerf', namespace: 'kerf-system' };
  const account = `apiVersion: v1
kind: Namespace
metadata:
  name: kerf-system
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: kerf
  namespace: kerf-system
`;
  const of = (circumstance: Circumstance): Right[] => only(clusterRights, circumstance);
  const words = (rights: readonly Right[]): string =>
    rights
      .map(
        ({ group, resources, verbs }) =>
          `${group === '' ? 'core' : group} ${resources.map((each) => `\`${each}\``).join(', ')} ${verbs.join(', ')}`,
      )
      .join('; ');
  return `# Rights of \`kerf controller\`

What the process may do in a cluster, generated from the table that the chart's roles are made from (\`src/server/rights\`). The
names are examples: the ServiceAccount is \`kerf\` in the namespace \`kerf-system\`, which is also where its Lease lives
(\`--leader-election-namespace kerf-system\`, or \`SYSTEM_NAMESPACE\`). Tests run a scale-up and a scale-down on a real API server
with exactly these rights, and fail when one is refused.

It never reads Secrets, of ConfigMaps only \`kube-system/aws-auth\` (with the aws provider), and creates no pods. \`kerf controller --shadow\` needs only what reads, and a Lease of its own.

## Always

${fenced(
  [
    account,
    role('kerf', always(clusterRights), subject),
    role('kerf', leaseRights(defaultLeaseName), subject, subject.namespace),
  ].join('---\n'),
)}
## With the aws provider

${fenced([role('kerf-aws', of('aws'), subject), role('kerf-dns', dnsRights, subject, 'kube-system')].join('---\n'))}
## With the kwok provider

${fenced(role('kerf-kwok', of('kwok'), subject))}
\`--fake-kubelets\` also plays kubelet:

${fenced(role('kerf-fake-kubelets', of('fakeKubelets'), subject))}
## With feature gates

${aligned([
  ['gate or setting', 'rights to add'],
  ['`NodeOverlay=true`', words(of('nodeOverlay'))],
  ['`CapacityBuffer=true`', words(of('capacityBuffer'))],
  ['`PodDeletionCostManagement=true`', words(of('deletionCosts'))],
  ['`--ignore-dra-requests=false`', words(of('devices'))],
  ['`--scheduler-config`', words(of('defaultSpread'))],
  ['`--dashboard-port`', words(of('dashboard'))],
])}`;
}

/** Everything that the aws provider with every gate may do, under the names that charts use. */
export function awsExampleRights(): string {
  const subject = { account: 'karpenter', namespace: 'kube-system' };
  const needed: readonly (Circumstance | undefined)[] = [
    undefined,
    'aws',
    'nodeOverlay',
    'capacityBuffer',
    'devices',
    'deletionCosts',
  ];
  const account = `# What the controller may do in the cluster: apply it as it is, in the namespace kube-system. Generated from the table
# that docs/reference/rbac.md and the chart are made from.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: karpenter
  namespace: kube-system
`;
  const cluster = clusterRights.filter(({ when }) => needed.includes(when));
  return [
    account,
    role('karpenter', cluster, subject),
    role('karpenter', [...leaseRights(defaultLeaseName), ...dnsRights], subject, 'kube-system'),
  ].join('---\n');
}
