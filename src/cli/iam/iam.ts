// `kerf iam`: the least that the controller and its nodes need in an AWS account, as JSON, Terraform or CloudFormation.
import { type Command, Option } from 'commander';
import {
  type ClusterAccount,
  checksPart,
  dnsSuffixOf,
  type PolicyPart,
  partitionOf,
  podIdentityTrust,
  policyParts,
  queueNameOf,
  webIdentityTrust,
} from '../../aws/catalogue.ts';
import { KerfError } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { cloudFormation } from './cloudformation.ts';
import {
  controllerRole,
  type InfrastructureResource,
  nodeRoleResources,
  podIdentity,
  policyResources,
  queueResource,
} from './infrastructure.ts';
import { accountId, clusterName, kubernetesName, nodeRole, oidcIssuer, queueName, regionName } from './names.ts';
import { callerAccount, terraform } from './terraform.ts';

const examples = `
Examples:
  $ kerf iam all --cluster prod > kerf-prod.yaml
  $ aws cloudformation deploy --stack-name kerf-prod --template-file kerf-prod.yaml --capabilities CAPABILITY_NAMED_IAM
  $ kerf iam policy --cluster prod --region eu-west-1 --account 123456789012
  $ kerf iam policy --cluster prod --region eu-west-1 --account 123456789012 --only NodeLifecycle > node-lifecycle.json
  $ kerf iam queue --cluster prod -o cloudformation > queue.yaml
  $ kerf iam trust --cluster prod --region eu-west-1 -o terraform
  $ kerf iam node-role --cluster prod -o cloudformation`;

type Output = 'json' | 'terraform' | 'cloudformation';

interface Flags {
  cluster: string;
  region?: string;
  account?: string;
  output: Output;
  queue?: string;
  nodeRole?: string;
  only?: PolicyPart;
  withChecks?: true;
  windows?: true;
  oidcIssuer?: string;
  namespace: string;
  serviceAccount: string;
}

export function configure(command: Command, run: CommandRunner): void {
  const add = (name: string, summary: string, print: (flags: Flags, env: Terminal['env']) => string): Command =>
    command
      .command(name)
      .description(summary)
      .requiredOption('--cluster <name>', 'name of the EKS cluster', clusterName)
      .option('--region <name>', 'region of the cluster (env AWS_REGION)', regionName)
      .option('--account <id>', 'AWS account, where the output cannot look it up', accountId)
      .addOption(
        new Option('-o, --output <format>', 'what to print')
          .choices(['json', 'terraform', 'cloudformation'])
          .default('json'),
      )
      .action(
        run(async (terminal: Terminal, flags: Flags) => {
          terminal.out(print(flags, terminal.env));
          return exitCode.ok;
        }),
      );
  const ofAccount = (each: Command): Command =>
    each
      .option('--namespace <name>', 'namespace of the controller', kubernetesName, 'kube-system')
      .option('--service-account <name>', 'service account of the controller', kubernetesName, 'karpenter')
      .option('--with-checks', 'also the rights to read what the checks before launches ask (optional)');
  ofAccount(
    command
      .command('all')
      .description(
        'everything as one CloudFormation template: policies, both roles, the queue, and the Pod Identity association',
      )
      .requiredOption('--cluster <name>', 'name of the EKS cluster', clusterName),
  ).action(
    run(async (terminal: Terminal, flags: AllFlags) => {
      terminal.out(printAll(flags));
      return exitCode.ok;
    }),
  );
  add('policy', 'what the controller may do: six policies', printPolicies)
    .option('--queue <name>', "interruption queue; the cluster's name if absent", queueName)
    .option('--node-role <name>', 'role (name or ARN) that nodes get; KarpenterNodeRole-<cluster> if absent', nodeRole)
    .addOption(new Option('--only <part>', 'print one policy document').choices([...policyParts, checksPart]))
    .option('--with-checks', 'also the rights to read what the checks before launches ask (optional)');
  add('node-role', 'the role of nodes, and the access entry that lets them join', printNodeRole).option(
    '--windows',
    'for Windows nodes',
  );
  ofAccount(
    add('trust', "who may use the controller's role: EKS Pod Identity, or a token of the cluster's issuer", printTrust),
  ).option(
    '--oidc-issuer <url>',
    "the cluster's OIDC issuer: IAM roles for service accounts instead of Pod Identity",
    oidcIssuer,
  );
  add('queue', 'the interruption queue and the EventBridge rules that fill it', printQueue).option(
    '--queue <name>',
    "name of the queue; the cluster's if absent",
    queueName,
  );
  command.addHelpText('after', examples);
}

type Env = Terminal['env'];

function printPolicies(flags: Flags, env: Env): string {
  const of = accountOf('policy', flags, env);
  const { only, nodeRole: role, queue = queueNameOf(flags.cluster) } = flags;
  const resources = policyResources(of, {
    queue,
    ...(role === undefined ? {} : { nodeRole: role }),
    ...(only === undefined ? {} : { only }),
    ...(flags.withChecks === true ? { withChecks: true } : {}),
  });
  if (flags.output !== 'json') return template(flags, 'policies of the controller', resources);
  const documents = Object.fromEntries(resources.map(({ name, document }) => [name, document]));
  return json(only === undefined ? documents : resources[0]?.document);
}

type AllFlags = Pick<Flags, 'cluster' | 'namespace' | 'serviceAccount' | 'withChecks'>;

function printAll({ cluster, namespace, serviceAccount, withChecks: asked }: AllFlags): string {
  const withChecks = asked === true;
  const of = whereApplied(cluster);
  return cloudFormation(`Kerf, cluster ${cluster}: policies, roles, queue`, [
    ...policyResources(of, { queue: queueNameOf(cluster), withChecks }),
    controllerRole(of, podIdentityTrust(), { withChecks }),
    podIdentity(of, { namespace, name: serviceAccount }),
    ...nodeRoleResources(of, false),
    queueResource(of, queueNameOf(cluster)),
  ]);
}

function printNodeRole(flags: Flags, env: Env): string {
  const of = accountOf('node_role', flags, env);
  const resources = nodeRoleResources(of, flags.windows ?? false);
  return flags.output === 'json' ? json(bare(resources)) : template(flags, 'role of nodes', resources);
}

function printTrust(flags: Flags, env: Env): string {
  const account = { namespace: flags.namespace, name: flags.serviceAccount };
  const trust = (): ReturnType<typeof podIdentityTrust> =>
    flags.oidcIssuer === undefined
      ? podIdentityTrust()
      : webIdentityTrust(accountOf('trust', flags, env), flags.oidcIssuer, account);
  if (flags.output === 'json') return json(trust());
  return template(flags, 'role of the controller; make the policies of kerf iam policy first', [
    controllerRole(accountOf('trust', flags, env), trust(), { withChecks: flags.withChecks === true }),
  ]);
}

function printQueue(flags: Flags, env: Env): string {
  const resource = queueResource(accountOf('queue', flags, env), flags.queue ?? queueNameOf(flags.cluster));
  return flags.output === 'json' ? json(bare([resource])[0]) : template(flags, 'interruption queue', [resource]);
}

/** A template knows whose account and region it is applied in; JSON has to be given both. */
function accountOf(what: string, flags: Flags, env: Env): ClusterAccount {
  const { cluster, output } = flags;
  if (output === 'cloudformation' && flags.region === undefined && flags.account === undefined) {
    return whereApplied(cluster);
  }
  const region = flags.region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  if (!region) throw missing('--region', 'eu-west-1', 'or set AWS_REGION');
  const account = flags.account ?? (output === 'terraform' ? callerAccount(what) : undefined);
  if (account === undefined) throw missing('--account', '123456789012', 'aws sts get-caller-identity shows it');
  return { cluster, region, account, partition: partitionOf(region), dnsSuffix: dnsSuffixOf(region) };
}

/** The account and region that CloudFormation applies a template in. */
function whereApplied(cluster: string): ClusterAccount {
  return {
    cluster,
    region: '${AWS::Region}',
    account: '${AWS::AccountId}',
    partition: '${AWS::Partition}',
    dnsSuffix: '${AWS::URLSuffix}',
  };
}

function missing(flag: string, example: string, hint: string): KerfError {
  return new KerfError('FlagMissing', `${flag} is missing: write ${flag} ${example} (${hint})`);
}

function template(flags: Flags, what: string, resources: readonly InfrastructureResource[]): string {
  const title = `Kerf, cluster ${flags.cluster}: ${what}`;
  return flags.output === 'terraform' ? terraform(title, resources) : cloudFormation(title, resources);
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Without what only templates need. */
function bare(resources: readonly InfrastructureResource[]): object[] {
  return resources.map(({ kind: _kind, id: _id, ...facts }) => facts);
}
