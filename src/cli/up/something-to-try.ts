// One thing to try that fits what just happened: a command for another terminal, and what it shows.
import type { Decision } from '../../ports/index.ts';
import type { Overview } from './overview.ts';

/** What stays as it is happens all the time, and what the player did is known to who did it. */
const quiet = new Set<Decision['what']>(['hold', 'config']);
const manyReplicas = 40;

export function somethingToTry(
  { nodes, waiting, workloads }: Overview,
  decisions: readonly Decision[],
): string | undefined {
  const last = decisions.findLast(({ what }) => !quiet.has(what));
  const [object] = last?.objects ?? [];
  switch (waiting > 0 || last?.what !== 'refuse' ? last?.what : undefined) {
    case 'refuse':
      return `npx kerf explain pod ${object?.namespace}/${object?.name} --context   why it finds no place, and what would help`;
    case 'launch':
      if (waiting > 0) return 'kubectl get nodeclaims -w   nodes on their way';
      return `kubectl describe nodeclaim ${object?.name}   what was launched, and its events`;
    case 'disrupt':
      return 'npx kerf explain cluster --context   what the pods could cost at least, and what lies between';
    default: {
      const web = workloads.find(({ namespace, name }) => namespace === 'shop' && name === 'web');
      if (web !== undefined) {
        return `kubectl scale deployment/web -n shop --replicas=${manyReplicas}   pods wait, nodes come`;
      }
      return nodes.length > 0
        ? 'npx kerf top --context   what keeps each node'
        : `kubectl create deployment web --image=registry.example.com/web:1 --replicas=${manyReplicas}   its pods wait, nodes come`;
    }
  }
}
