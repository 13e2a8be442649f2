// What checks need, in words for the report and as a question to the evidence.
import { type Operation, permissionOf } from './aws-answers.ts';
import type { Need, TextKind } from './failure.ts';

/** Objects of every one of these kinds, collected even if there are none. */
export function kinds(...names: readonly string[]): Need {
  return {
    what: `objects of kind ${names.join(', ')} (objects/)`,
    isMet: ({ objects }) => names.every((name) => objects.isCollected(name)),
  };
}

/** An answer of AWS that says something: the thing, or that there is none. */
export function answer(operation: Operation): Need {
  return {
    what: `${permissionOf(operation)}, or aws/${operation}.json`,
    isMet: ({ aws }) => aws.isAnswered(operation),
  };
}

const textNames: Readonly<Record<TextKind, string>> = {
  log: "the controller's log (logs/)",
  node: "a node's console output or journal (nodes/<instance id>/)",
  cli: 'a transcript of the command that failed (cli/)',
  object: 'objects of kind Event (objects/)',
  asked: 'a text (-f)',
};

/** Some text of one of these kinds; a text that was given with -f counts as any. */
export function texts(...wanted: readonly TextKind[]): Need {
  return {
    what: wanted.map((kind) => textNames[kind]).join(' or '),
    isMet: ({ texts: read }) => read.has('asked') || wanted.some((kind) => read.has(kind)),
  };
}

export function anyOf(...needs: readonly Need[]): Need {
  return {
    what: needs.map(({ what }) => what).join('; or '),
    isMet: (evidence) => needs.some((need) => need.isMet(evidence)),
  };
}

/** What no one can collect from here. */
export function never(what: string): Need {
  return { what, isMet: () => false };
}
