// The DaemonSets that will run on a node and have no pod there yet, by the rules new nodes are sized with.
import { atOnce } from '../../base/index.ts';
import { clusterObjects } from '../kube/cluster-objects.ts';
import { isTerminal } from '../pods/pod-classes.ts';
import { daemonsOf, runsOnNode } from '../pools/daemons.ts';
import { labelRules } from '../requirements/label-rules.ts';
import { RequirementTable } from '../requirements/requirement-set.ts';
import { RequestsOfPods } from '../resources/pod-requests.ts';
import { ResourceTable } from '../resources/resource-table.ts';
import type { Snapshot } from '../snapshot.ts';
import { TopologyGroups } from '../topology/topology-groups.ts';
import { labelSet } from './existing-nodes.ts';
import { machinesOf } from './machines.ts';

/** As `namespace/name`; of the snapshot's objects the node, its claim, its pods and the DaemonSets are looked at. */
export function daemonsToCome(snapshot: Snapshot, nodeName: string): string[] {
  const objects = atOnce(clusterObjects(snapshot));
  const rules = labelRules(snapshot.provider);
  const table = new RequirementTable(rules.wellKnown);
  const resources = new ResourceTable();
  const machine = atOnce(machinesOf(snapshot, objects)).find(({ node }) => node?.metadata.name === nodeName);
  if (machine === undefined) return [];
  const here = objects.pods.filter((pod) => pod.spec?.nodeName === nodeName && !isTerminal(pod));
  const owners = new Set(here.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)));
  const place = { labels: labelSet(table, rules, machine.labels), hostname: machine.hostname, taints: machine.taints };
  const daemons = daemonsOf({
    objects,
    requests: new RequestsOfPods(resources),
    variants: {
      table,
      rules,
      groups: new TopologyGroups(objects.namespaces),
      respectPreferences: false,
      relaxPreferNoSchedule: false,
    },
    skipResourceClaims: snapshot.settings?.ignoreDRARequests !== false,
  });
  return daemons
    .filter(({ uid }) => uid === undefined || !owners.has(uid))
    .filter((daemon) => runsOnNode(table, daemon, place))
    .map(({ name }) => name);
}
