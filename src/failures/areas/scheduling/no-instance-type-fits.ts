// The families and sizes of the pool leave nothing that is large enough for the pod and the DaemonSets beside it.
import type { Evidence } from '../../evidence.ts';
import { waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { aroundOf, caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { allowedValues, couldServe, podRequests } from '../../pools.ts';

const typeKey = 'node.kubernetes.io/instance-type';

export const noInstanceTypeFits: Failure = {
  id: 'scheduling/no-instance-type-fits',
  severity: 'high',
  symptom: 'A pod waits; the log says `no instance type met the scheduling requirements or had a required offering`.',
  cause: 'The pool allows no type that is large enough for the pod and the DaemonSets that would run with it',
  fix: 'Widen `requirements` (categories and sizes rather than a short list of types), or lower the request.',
  needs: [anyOf(texts('log', 'object'), kinds('Pod', 'NodePool'))],
  signs: [
    {
      words: ['no instance type', 'nocompatibleinstancetypes', 'failed to find instance type option'],
      pattern:
        /no instance type (?:met|satisfied|which|has|had|fit)[^;{]{0,160}|NoCompatibleInstanceTypes|Failed to find instance type option\(?s?\)?/i,
      // Only the offering is missing, in one zone: a volume or a pin holds the pod there.
      unless: /had enough resources had a required offering.{0,40}$|instance type has (?:the|a) required offering/i,
      until: ['launched'],
    },
  ],
  fromText(sightings) {
    const pod = aroundOf(sightings, /Pod"?:? ?\{"name": ?"([^"]+)"/) ?? aroundOf(sightings, /pod"?: ?"([^"]+)"/);
    const pool = aroundOf(sightings, /(?:nodepool|provisioner)[ :"\\]*([\w-]+)"/i);
    const need = aroundOf(sightings, /satisfied resources (\{[^}]*\})/) ?? caught(sightings, 'need');
    return [
      foundIn(sightings, {
        summary: `No instance type that ${pool === undefined ? 'the pools allow' : `NodePool ${pool} allows`} fits ${pod === undefined ? 'the pod' : `pod ${pod}`}${need === undefined ? '' : ` (it needs ${need} with its DaemonSets)`}.`,
        fix: [
          `Widen spec.template.spec.requirements of ${pool === undefined ? 'the NodePool' : `NodePool ${pool}`}: instance categories and a minimum generation instead of a list of types; or lower the requests of the pod.`,
          `kerf explain pod ${pod ?? '<the pod>'}  # names the nearest miss per pool`,
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    const pools = evidence.objects.of('NodePool');
    const stuck = waitingPods(evidence).flatMap((pod) => {
      const { cpu, memory } = podRequests(pod);
      const serving = pools.filter((pool) => couldServe(pool, pod));
      const limits = serving.map((pool) => largestOf(allowedValues(pool, typeKey), evidence));
      const isTooLarge =
        serving.length > 0 &&
        limits.every((limit) => limit !== undefined && (cpu > limit.vcpus || memory > limit.memoryMiB * 1024 ** 2));
      return isTooLarge ? [{ pod, pool: serving[0], limit: limits[0] }] : [];
    });
    if (stuck.length === 0) return [];
    const [first] = stuck;
    return [
      {
        confidence: 'certain',
        summary: `${first?.pod.name}${stuck.length > 1 ? ` and ${stuck.length - 1} more pods` : ''} ask for more than the largest type that NodePool ${first?.pool?.name} allows (${first?.limit?.name}: ${first?.limit?.vcpus} vCPU, ${first?.limit?.memoryMiB} MiB).`,
        objects: refsOf(stuck.slice(0, 10).map(({ pod }) => pod)),
        evidence: stuck
          .slice(0, 3)
          .map(({ pod }) =>
            fieldItem(
              pod,
              'requests',
              `cpu ${podRequests(pod).cpu}, memory ${Math.round(podRequests(pod).memory / 1024 ** 2)}Mi`,
            ),
          ),
        fix: [
          `Add larger types to ${typeKey} in NodePool ${first?.pool?.name}, or write categories and sizes instead; or lower the requests of ${first?.pod.namespace}/${first?.pod.name}.`,
        ],
      },
    ];
  },
};

/** The largest of a list of types, when all are known. */
function largestOf(
  types: readonly string[] | undefined,
  evidence: Evidence,
): { name: string; vcpus: number; memoryMiB: number } | undefined {
  if (types === undefined || types.length === 0) return undefined;
  const known = types.map((name) => ({ name, type: evidence.machineType(name) }));
  if (known.some(({ type }) => type === undefined)) return undefined;
  const largest = known.reduce((one, other) => ((other.type?.vcpus ?? 0) > (one.type?.vcpus ?? 0) ? other : one));
  return { name: largest.name, vcpus: largest.type?.vcpus ?? 0, memoryMiB: largest.type?.memoryMiB ?? 0 };
}
