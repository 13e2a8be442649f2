// kube-proxy is a process of the node on Windows and needs a group that Linux nodes do not.
import type { Evidence } from '../../evidence.ts';
import { clusterName, nodeRoles, roleArn } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { foundIn, refsOf } from '../../found.ts';
import { answer, anyOf, kinds } from '../../needs.ts';
import { windowsClasses } from './windows-classes.ts';

const group = 'eks:kube-proxy-windows';

export const dnsGroupMissing: Failure = {
  id: 'windows/dns-group-missing',
  severity: 'medium',
  symptom: 'DNS works in Linux pods and not in Windows pods.',
  cause: `The role of the Windows nodes is mapped without the group \`${group}\`, or its access entry is not of type EC2_WINDOWS`,
  fix: `Add the group \`${group}\` to the mapping, or create an access entry of type EC2_WINDOWS.`,
  needs: [kinds('EC2NodeClass'), anyOf(kinds('ConfigMap'), answer('eks-describe-access-entry'))],
  signs: [
    {
      words: ['kube-proxy', 'kubeproxy'],
      pattern:
        /(?:windows|\.exe|\bC:\\).{0,200}kube-?proxy.{0,300}User "?system:node:[^"]+"? cannot (?:list|watch|get) resource "?(?:services|endpointslices|endpoints|nodes)|kube-?proxy.{0,300}User "?system:node:[^"]+"? cannot (?:list|watch|get) resource "?(?:services|endpointslices|endpoints)"?.{0,200}(?:windows|\.exe)/i,
      confidence: 'likely',
    },
    // On Linux kube-proxy has a service account; only on Windows it speaks as the node.
    {
      words: ['endpointslices.discovery.k8s.io is forbidden'],
      pattern:
        /endpointslices\.discovery\.k8s\.io is forbidden: User "system:node:[^"]+" cannot (?:list|watch) resource "endpointslices"/i,
      confidence: 'likely',
    },
    // What nslookup of Windows prints in a pod where names of the cluster do not resolve.
    {
      words: ['dns request timed out'],
      pattern: /kubectl exec .{0,200}nslookup.{0,160}Server: UnKnown.{0,160}DNS request timed out/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: 'kube-proxy of a Windows node may not read services: the group of its role is missing.',
      fix: fixFor(evidence, nodeRoles(evidence)[0]?.role ?? '$NODE_ROLE'),
    }),
  ],
  check(evidence): Found[] {
    const classes = new Set(windowsClasses(evidence).map(({ name }) => name));
    return nodeRoles(evidence).flatMap(({ role, nodeClasses }) => {
      const own = nodeClasses.filter(({ name }) => classes.has(name));
      if (own.length === 0) return [];
      const mappings = [...entriesOf(role, evidence), ...mapRolesOf(role, evidence)];
      // Not mapped at all is another failure, and one mapping that is right is enough.
      if (mappings.length === 0 || mappings.some(({ isRight }) => isRight)) return [];
      return [
        {
          confidence: 'certain' as const,
          summary: `Role ${role} of Windows nodes is mapped without ${group}: DNS does not work in Windows pods.`,
          objects: refsOf(own),
          evidence: mappings.map(({ item }) => item),
          fix: fixFor(evidence, role),
          key: role,
        },
      ];
    });
  },
};

interface Mapping {
  isRight: boolean;
  item: EvidenceItem;
}

function entriesOf(role: string, { aws }: Evidence): Mapping[] {
  return aws
    .bodies('eks-describe-access-entry')
    .filter(({ item }) => textAt(item, 'principalArn').endsWith(`/${role}`))
    .filter(({ item }) => textAt(item, 'type').startsWith('EC2'))
    .map(({ item, source }) => ({
      isRight: textAt(item, 'type') === 'EC2_WINDOWS',
      item: { source, text: `access entry of ${textAt(item, 'principalArn')}: type ${textAt(item, 'type')}` },
    }));
}

/** The YAML inside aws-auth is read by entries, without a parser: each begins with a dash. */
function mapRolesOf(role: string, { objects }: Evidence): Mapping[] {
  const map = objects.find('ConfigMap', 'aws-auth', 'kube-system');
  if (map === undefined) return [];
  return textAt(map.object, 'data', 'mapRoles')
    .split(/^\s*- (?=(?:rolearn|username|groups):)/m)
    .filter((entry) => new RegExp(`role/(?:[\\w+=,.@-]+/)*${role.replaceAll(/[.+]/g, '\\$&')}\\s`).test(`${entry}\n`))
    .map((entry) => ({
      isRight: entry.includes(group),
      item: {
        source: map.source,
        text: `aws-auth maps ${role} to ${[...entry.matchAll(/^\s*- (\S+)$/gm)].map(([, name]) => name).join(', ')}`,
      },
    }));
}

function fixFor(evidence: Evidence, role: string): string[] {
  return [
    `aws eks create-access-entry --cluster-name ${clusterName(evidence)} --principal-arn ${roleArn(evidence, role)} --type EC2_WINDOWS (after deleting an entry of another type for the same role)`,
    `Or in aws-auth: add ${group} to the groups of ${role}: kubectl -n kube-system edit configmap aws-auth`,
  ];
}
