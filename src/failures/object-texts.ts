// The texts inside objects: messages of events, of conditions that are not met, and what containers said when they ended.
// They are read with the same signs as logs, and each knows the object that it is about.
import type { ObjectRef, TextKind } from './failure.ts';
import { listAt, textAt } from './fields.ts';
import { conditionsOf, conditionText, type Objects, refOf, type Stored } from './objects.ts';

export interface ObjectText {
  source: string;
  kind: TextKind;
  about: ObjectRef;
  text: string;
  timeMs?: number;
}

const withConditions = ['NodePool', 'NodeClaim', 'EC2NodeClass', 'Node', 'Pod', 'Deployment', 'Provisioner', 'Machine'];

export function* objectTexts(objects: Objects): Generator<ObjectText> {
  for (const event of objects.of('Event')) yield* eventText(event);
  for (const kind of withConditions) for (const stored of objects.of(kind)) yield* conditionTexts(stored);
  for (const pod of objects.of('Pod')) yield* containerTexts(pod);
}

function* eventText({ object, source, namespace }: Stored): Generator<ObjectText> {
  const regarding = textAt(object, 'involvedObject', 'name') === '' ? 'regarding' : 'involvedObject';
  const about = refFrom(object, regarding, namespace);
  const message = textAt(object, 'message') || textAt(object, 'note');
  if (about === undefined || message === '') return;
  const times = [
    textAt(object, 'series', 'lastObservedTime'),
    textAt(object, 'lastTimestamp'),
    textAt(object, 'eventTime'),
    textAt(object, 'deprecatedLastTimestamp'),
    textAt(object, 'metadata', 'creationTimestamp'),
  ];
  const time = times.map((text) => Date.parse(text)).find((parsed) => !Number.isNaN(parsed));
  yield {
    source,
    kind: 'object',
    about,
    text: `${textAt(object, 'reason')}: ${message}`,
    ...(time === undefined ? {} : { timeMs: time }),
  };
}

function refFrom(object: unknown, field: string, otherwise: string): ObjectRef | undefined {
  const kind = textAt(object, field, 'kind');
  const name = textAt(object, field, 'name');
  if (kind === '' || name === '') return undefined;
  const isClusterScoped = ['Node', 'NodeClaim', 'NodePool', 'EC2NodeClass'].includes(kind);
  const namespace = isClusterScoped ? '' : textAt(object, field, 'namespace') || otherwise;
  return namespace === '' ? { kind, name } : { kind, name, namespace };
}

function* conditionTexts(stored: Stored): Generator<ObjectText> {
  for (const condition of conditionsOf(stored.object)) {
    if (condition.status === 'True' || condition.message === '') continue;
    const timeMs = Date.parse(condition.since);
    yield {
      source: stored.source,
      kind: 'object',
      about: refOf(stored),
      text: conditionText(condition),
      ...(Number.isNaN(timeMs) ? {} : { timeMs }),
    };
  }
}

function* containerTexts(stored: Stored): Generator<ObjectText> {
  for (const status of listAt(stored.object, 'status', 'containerStatuses')) {
    for (const [field, state] of [
      ['state', 'waiting'],
      ['state', 'terminated'],
      ['lastState', 'terminated'],
    ] as const) {
      const message = textAt(status, field, state, 'message');
      if (message === '') continue;
      const reason = textAt(status, field, state, 'reason');
      yield { source: stored.source, kind: 'object', about: refOf(stored), text: `${reason}: ${message}` };
    }
  }
}
