// Names that people need for a fix and that the texts around the trouble say: a command or an ARN beside an error often names
// the cluster, its account and region. A name counts when the texts agree on it.
import type { Evidence } from './evidence.ts';
import type { Sighting } from './failure.ts';

/** The one value that the patterns' first groups find around all sightings. */
function agreedOn({ sightings }: Evidence, patterns: readonly RegExp[]): string | undefined {
  const found = new Set<string>();
  for (const places of sightings.values())
    for (const { around } of places)
      for (const pattern of patterns) for (const match of around.matchAll(pattern)) if (match[1]) found.add(match[1]);
  return found.size === 1 ? [...found][0] : undefined;
}

const name = '([A-Za-z0-9][A-Za-z0-9_-]{0,99})';
const clusters: readonly RegExp[] = [
  new RegExp(`:cluster/${name}`, 'g'),
  new RegExp(`kubernetes\\.io/cluster/${name}`, 'g'),
  new RegExp(`--cluster(?:-name)?[ =]"?${name}`, 'g'),
  new RegExp(`\\b(?:clusterName|cluster[-_]name|CLUSTER_NAME)"?(?:: ?|=)"?${name}`, 'g'),
  new RegExp(`aws eks [a-z-]+ (?:--region \\S+ )?--name ${name}`, 'g'),
];

const region = '([a-z]{2}(?:-[a-z]+)+-\\d)';
const regions: readonly RegExp[] = [
  new RegExp(`arn:aws[\\w-]*:(?:ec2|eks|sqs|ssm|kms):${region}:`, 'g'),
  new RegExp(
    `\\b(?:sts|ec2|ecr|eks|ssm|sqs|dkr\\.ecr|api\\.ecr|gr7|yl4|sk1)\\.${region}\\.(?:eks\\.)?amazonaws\\.com`,
    'g',
  ),
  new RegExp(`--region[ =]${region}`, 'g'),
];

const accounts: readonly RegExp[] = [/arn:aws[\w-]*:(?:iam|sts|eks|sqs):[\w-]*:(\d{12}):/g];

/** Commands about the controller; what trust policies and webhooks name may be the wrong one. */
const namespaces: readonly RegExp[] = [
  /\b(?:kubectl|helm)\b[^|;$]{0,60}? (?:-n|--namespace)[ =]([a-z0-9][\w-]*)[^|;$]{0,60}\b(?:karpenter|kerf)\b/g,
  /\b(?:kubectl|helm)\b[^|;$]{0,80}\b(?:karpenter|kerf)\b[^|;$]{0,80}? (?:-n|--namespace)[ =]([a-z0-9][\w-]*)/g,
  /"name": ?"(?:karpenter|kerf)-[a-z0-9]+-[a-z0-9]{5}", ?"namespace": ?"([\w-]+)"/g,
];

export const namespaceInText = (evidence: Evidence): string | undefined => agreedOn(evidence, namespaces);
export const clusterInText = (evidence: Evidence): string | undefined => agreedOn(evidence, clusters);
export const regionInText = (evidence: Evidence): string | undefined => agreedOn(evidence, regions);
export const accountInText = (evidence: Evidence): string | undefined => agreedOn(evidence, accounts);

const objectName = '([a-z0-9][a-z0-9.-]{0,252})';

/** The node class or pool that the lines are about. */
export function objectInText(sightings: readonly Sighting[], kind: 'EC2NodeClass' | 'NodePool'): string | undefined {
  const patterns = [
    new RegExp(`"${kind}": ?\\{"name": ?"${objectName}"`),
    new RegExp(`\\b${kind}(?:\\.karpenter\\S*)?[ /]"${objectName}"`, 'i'),
    new RegExp(`\\b${kind}(?:es|s)?(?:\\.karpenter[a-z.0-9]*)?/${objectName}`, 'i'),
  ];
  for (const { about } of sightings) if (about?.kind === kind) return about.name;
  for (const pattern of patterns)
    for (const { around } of sightings) {
      const found = pattern.exec(around)?.[1];
      if (found !== undefined) return found;
    }
  return undefined;
}

/** The file that a tool refused. */
export function manifestInText(sightings: readonly Sighting[]): string {
  for (const { around } of sightings) {
    const file = /(?:from|creating|validating|parsing|applying) "?([\w./-]+\.(?:ya?ml|json))"?/.exec(around)?.[1];
    if (file !== undefined) return file;
  }
  return '<the manifest>';
}
