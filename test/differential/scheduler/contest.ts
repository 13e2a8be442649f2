// Random small clusters in which a pod finds no room unless it pushes others aside. No two pods are equally important, so
// that the scheduler has one answer.
import type { Node, Pod, PodDisruptionBudget } from '../../../src/ports/index.ts';
import { type Dice, hostname, type World } from './world.ts';

export interface Contest {
  world: World;
  budgets: PodDisruptionBudget[];
  pod: Pod;
}

const namespace = 'default';
const priorities = Array.from({ length: 12 }, (_, index) => index * 10);
export const priorityClasses = priorities.map((value) => ({ metadata: { name: `worth-${value}` }, value }));
const apps = ['web', 'db', 'job'];

export function makeContest(dice: Dice, name: string): Contest {
  const amounts = { cpu: '4', memory: '8Gi', pods: '10' };
  const nodes: Node[] = ['n0', 'n1', 'n2'].map((host) => ({
    metadata: { name: host, labels: { [hostname]: host } },
    ...(dice.chance(15) ? { spec: { unschedulable: true } } : {}),
    status: { capacity: amounts, allocatable: amounts },
  }));
  const left = [...priorities];
  const draw = (): number => left.splice(Math.floor(dice.next() * left.length), 1)[0] ?? 0;
  const running = nodes.flatMap((node) =>
    Array.from({ length: dice.between(1, 3) }, (_, index) => {
      const pod = makePod(dice, `r-${node.metadata.name}-${index}`, draw());
      return { pod: { ...pod, spec: { ...pod.spec, nodeName: node.metadata.name } } as Pod, fate: 'runs' as const };
    }),
  );
  const budgets = apps
    .filter(() => dice.chance(40))
    .map((app) => ({
      metadata: { name: app, namespace },
      spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      status: {
        disruptionsAllowed: dice.between(0, 1),
        currentHealthy: 2,
        desiredHealthy: 1,
        expectedPods: 2,
        observedGeneration: 1,
      },
    }));
  const asking = makePod(dice, name, dice.pick(left));
  const keepsAway = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: hostname, labelSelector: { matchLabels: { app: dice.pick(apps) } } },
      ],
    },
  };
  return {
    world: { nodes, storageClasses: [], volumes: [], claims: [], csiNodes: [], running },
    budgets,
    pod: { ...asking, spec: { ...asking.spec, ...(dice.chance(30) && { affinity: keepsAway }) } } as Pod,
  };
}

const makePod = (dice: Dice, name: string, priority: number): Pod => ({
  metadata: { name, namespace, labels: { app: dice.pick(apps) } },
  spec: {
    priorityClassName: `worth-${priority}`,
    terminationGracePeriodSeconds: 600,
    containers: [
      { name: 'main', image: 'none', resources: { requests: { cpu: String(dice.between(1, 4)), memory: '1Gi' } } },
    ],
  },
});
