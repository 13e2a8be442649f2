// Lets disruption work on a snapshot until it has nothing more to do: after each command the pods are where the planner
// puts them and the nodes are gone, as they would be some minutes later.
import { atOnce, type Sliced } from '../../src/base/index.ts';
import type { Command, MethodOutcome, Round, Sets, Snapshot, SnapshotObject } from '../../src/core/index.ts';
import { emptinessCommand, Round as NewRound, singleNodeCommand } from '../../src/core/index.ts';
import { machineOf, nodeOf, typeNamed } from './fragmented.ts';

export type MultiMethod = (round: Round, ahead: Sets) => Sliced<Pick<MethodOutcome, 'command' | 'memory'>>;

export interface Settled {
  pricePerHour: number;
  evictions: number;
  commands: number;
  nodes: number;
}

/** More commands than any sane cluster needs: a loop would show itself here. */
const mostCommands = 400;

export function settle(start: Snapshot, multi: MultiMethod): Settled {
  let snapshot = start;
  let evictions = 0;
  let commands = 0;
  let ahead: Sets = [];
  const several = (round: Round): Command | undefined => {
    const outcome = atOnce(multi(round, ahead));
    ahead = outcome.memory.ahead ?? [];
    return outcome.command;
  };
  for (;;) {
    const round = NewRound.of(snapshot);
    const command = emptinessCommand(round).command ?? several(round) ?? atOnce(singleNodeCommand(round)).command;
    if (command === undefined || commands === mostCommands) {
      const pricePerHour = round.fleet.members.reduce((sum, member) => sum + member.price, 0);
      return { pricePerHour, evictions, commands, nodes: round.fleet.members.length };
    }
    commands += 1;
    const after = carriedOut(snapshot, command, commands);
    evictions += after.evictions;
    snapshot = after.snapshot;
  }
}

function carriedOut(snapshot: Snapshot, command: Command, number: number): { snapshot: Snapshot; evictions: number } {
  const gone = new Set(command.members.map((member) => member.name));
  const types = snapshot.instanceTypes?.[0]?.items ?? [];
  const added: SnapshotObject[] = [];
  for (const [index, replacement] of command.replacements.entries()) {
    if (replacement.kind !== 'planned') continue;
    const type = typeNamed(types, replacement.node.chosen);
    added.push(...machineOf(`new-${String(number).padStart(4, '0')}-${index}`, type, replacement.node));
  }
  const staying = snapshot.objects.items.filter(
    ({ kind, metadata }) => !((kind === 'Node' || kind === 'NodeClaim') && gone.has(metadata.name)),
  );
  const moving = staying.filter((object) => object.kind === 'Pod' && gone.has(nodeOf(object)));
  const movingSet = new Set(moving);
  const others = staying.filter((object) => !movingSet.has(object));
  // Pods go where the decision put them: a scheduler that packs otherwise would only make the next command another one.
  const placeOf = new Map(command.placements.flatMap(({ name, pods }) => pods.map((pod) => [pod, name] as const)));
  const newNames = added.filter(({ kind }) => kind === 'Node').map(({ metadata }) => metadata.name);
  for (const [index, replacement] of command.replacements.entries()) {
    const pods = replacement.kind === 'planned' ? replacement.node.pods : [];
    for (const pod of pods) placeOf.set(pod, newNames[index] ?? '');
  }
  if (!moving.every(({ metadata }) => placeOf.has(`default/${metadata.name}`))) {
    throw new Error(`a pod lost its place after ${command.members.length} nodes went`);
  }
  const moved = moving.map((pod) => onNode(pod, placeOf.get(`default/${pod.metadata.name}`) ?? ''));
  return {
    snapshot: { ...snapshot, objects: { ...snapshot.objects, items: [...others, ...added, ...moved] } },
    evictions: moving.length,
  };
}

function onNode(pod: SnapshotObject, nodeName: string): SnapshotObject {
  return { ...pod, spec: { ...(pod['spec'] as Record<string, unknown>), nodeName } };
}
