// What to ask the account about, found in the objects of the cluster.
import type { AccountQuestions } from '../../../aws/index.ts';
import {
  clusterName,
  controllerDeployments,
  controllerIdentity,
  type Evidence,
  instanceOf,
  listAt,
  nodeRoles,
  settingOf,
  textAt,
  unregisteredClaims,
} from '../../../failures/index.ts';

/** Undefined when the name of the cluster is unknown: nothing can be asked about it then. */
export function questionsOf(evidence: Evidence, given: string | undefined): AccountQuestions | undefined {
  const name = given ?? clusterName(evidence);
  if (name.startsWith('"')) return undefined;
  const classes = evidence.objects.of('EC2NodeClass');
  const ids = (field: string): string[] =>
    [
      ...new Set(classes.flatMap(({ object }) => listAt(object, 'status', field).map((one) => textAt(one, 'id')))),
    ].filter((id) => id !== '');
  const [deployment] = controllerDeployments(evidence);
  const queue = deployment === undefined ? undefined : settingOf(deployment, 'INTERRUPTION_QUEUE');
  return {
    clusterName: name,
    nodeRoles: nodeRoles(evidence).map(({ role }) => role),
    controllerRole: controllerIdentity(evidence)?.roleArn.split('/').at(-1) || undefined,
    queue: queue === '' ? undefined : queue,
    subnets: ids('subnets'),
    groups: ids('securityGroups'),
    images: ids('amis'),
    profiles: [...new Set(classes.map(({ object }) => textAt(object, 'spec', 'instanceProfile')))].filter(
      (one) => one !== '',
    ),
    keys: [
      ...new Set(
        classes.flatMap(({ object }) =>
          listAt(object, 'spec', 'blockDeviceMappings').map((one) => textAt(one, 'ebs', 'kmsKeyID')),
        ),
      ),
    ].filter((one) => one !== ''),
    silentInstances: unregisteredClaims(evidence)
      .map(instanceOf)
      .filter((id) => id !== ''),
  };
}
