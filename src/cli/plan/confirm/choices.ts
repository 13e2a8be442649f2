// A suggestion that offers a choice, taken apart: of "do this, or that" only those parts stay that each give the pod a place
// by themselves. Where no part alone does and all of them together do, the choice becomes a sum.
import type { Reason } from '../../../core/index.ts';
import { type Trial, tryRemedies } from './try-remedies.ts';

/** Combinations of choices of several reasons that are tried; beyond, the first choice of each is all that is shown. */
const mostCombinations = 8;

interface Offer {
  choices: Reason[];
  /** What to show of the choices that work. */
  join(working: readonly Reason[]): Reason;
  /** What to show where none works alone, though the whole does. */
  otherwise: string;
}

/** Reasons whose remedies together are enough, with suggestions of which every combination of choices is. */
export function withWorkingChoices(trial: Trial, enough: readonly Reason[]): Reason[] {
  const isEnough = (reasons: readonly Reason[]): boolean => tryRemedies(trial, reasons).kind === 'placed';
  const shown: Reason[] = [];
  let before: Reason[][] = [[]];
  for (const [at, reason] of enough.entries()) {
    const offer = offerOf(reason);
    const rest = enough.slice(at + 1);
    const working =
      offer?.choices.filter((choice) => before.every((chosen) => isEnough([...chosen, choice, ...rest]))) ?? [];
    const [first] = working;
    if (offer === undefined || trial.budget.left <= 0) {
      shown.push(reason);
      before = before.map((chosen) => [...chosen, reason]);
    } else if (first === undefined) {
      shown.push({ ...reason, suggestion: offer.otherwise });
      before = before.map((chosen) => [...chosen, reason]);
    } else {
      const kept = before.length * working.length > mostCombinations ? [first] : working;
      shown.push(offer.join(kept));
      before = before.flatMap((chosen) => kept.map((choice) => [...chosen, choice]));
    }
  }
  return shown.map((reason, at) => {
    const others = shown.filter((_, other) => other !== at);
    return inOnePlace(reason).find((narrow) => keysOf(narrow).every((each) => isEnough([each, ...others]))) ?? reason;
  });
}

/** `… in the pod and in NodePool x`, where one of the two may do. */
function inOnePlace(reason: Reason): Reason[] {
  const { suggestion = '' } = reason;
  const [, what = '', pool = ''] =
    /^(allow other values for .*) in the pod and in (NodePool \S+)$/.exec(suggestion) ?? [];
  if (pool === '') return [];
  return ['the pod', pool].map((place) => ({ ...reason, suggestion: `${what} in ${place}` }));
}

const keysOf = (reason: Reason): Reason[] => (reason.keys ?? []).map((key) => ({ ...reason, keys: [key] }));

function offerOf(reason: Reason): Offer | undefined {
  const offers = [offerOfKeys, offerOfValues, offerOfPlaces, offerOfTopology, offerOfParts];
  return offers.reduce<Offer | undefined>((known, offer) => known ?? offer(reason), undefined);
}

/** `allow other values for a or b …` */
function offerOfKeys(reason: Reason): Offer | undefined {
  const { keys = [], suggestion = '' } = reason;
  if (keys.length < 2 || !suggestion.startsWith('allow other values for')) return undefined;
  const about = (some: readonly string[]): Reason => ({
    ...reason,
    keys: [...some],
    suggestion: suggestion.replace(keys.join(' or '), some.join(' or ')),
  });
  return {
    choices: keys.map((key) => about([key])),
    join: (working) => about(working.flatMap((choice) => choice.keys ?? [])),
    otherwise: suggestion.replace(keys.join(' or '), keys.join(' and ')),
  };
}

/** `ask for a or b in the pod's node selector or affinity for key` */
function offerOfValues(reason: Reason): Offer | undefined {
  const { suggestion = '' } = reason;
  const [, values = '', where = '', key = ''] =
    /^ask for (\S+(?: or \S+)*)( in the pod's node selector or affinity for (\S+))$/.exec(suggestion) ?? [];
  if (key === '') return undefined;
  const wanting = (some: readonly string[]): Reason => ({
    ...reason,
    suggestion: `ask for ${some.join(' or ')}${where}`,
  });
  const names = values.split(' or ');
  return {
    choices: names.map((name) => wanting([name])),
    join: (working) =>
      wanting(names.filter((name) => working.some((choice) => choice.suggestion?.includes(` ${name} in`)))),
    otherwise: `leave ${key} out of the pod's node selector and affinity`,
  };
}

/** `allow … in NodePool x or in the pod` */
function offerOfPlaces(reason: Reason): Offer | undefined {
  const { suggestion = '' } = reason;
  const [, what = '', pool = ''] = /^(allow .*) in (NodePool \S+) or in the pod$/.exec(suggestion) ?? [];
  if (pool === '') return undefined;
  const [inPool, inPod] = [`${what} in ${pool}`, `${what} in the pod`];
  return offered(reason, [inPool, inPod], `${inPool} and in the pod`);
}

/** Of a spread: more skew, more domains, or a preference. Of affinity: a pod to be near. Of anti-affinity: more domains. */
function offerOfTopology(reason: Reason): Offer | undefined {
  const { suggestion = '' } = reason;
  const [, skew = '', spreadKey = ''] =
    /^(raise maxSkew .* over (\S+)), allow more domains, or /.exec(suggestion) ?? [];
  if (spreadKey !== '') {
    const texts = [skew, `allow more domains of ${spreadKey}`, `make the spread over ${spreadKey} ScheduleAnyway`];
    return offered(reason, texts, texts.join(', and '));
  }
  const [, start = '', near = ''] = /^(start a pod the affinity over (\S+) .*), or make /.exec(suggestion) ?? [];
  if (near !== '') {
    const texts = [start, `make the affinity over ${near} preferred`];
    return offered(reason, texts, texts.join(', and '));
  }
  const [, preferred = '', key = ''] =
    /^(make the anti-affinity over (\S+) .*preferred), or let /.exec(suggestion) ?? [];
  if (key === '') return undefined;
  const texts = [preferred, `let the pod run in more domains of ${key}`];
  return offered(reason, texts, texts.join(', and '));
}

/** Every part must be one that can be tried by itself. */
const triable = [
  'allow instance types in',
  'allow larger instance types',
  'allow more instance types',
  'allow more zones',
  'allow other instance types',
  'allow what the pod asks for',
  'ask for less',
  "change the pod's node selector",
  'give the pod',
  'keep the daemon',
  'let daemons ask for less',
  'let it use more instance types',
  'lower minValues',
  "relax the pod's node selector",
  'use another host port',
  'wait for the next try',
];

/** `this, or that` */
function offerOfParts(reason: Reason): Offer | undefined {
  const parts = (reason.suggestion ?? '').split(/[,;] or /);
  if (parts.length < 2 || !parts.every((part) => triable.some((start) => part.startsWith(start)))) return undefined;
  return offered(reason, parts, parts.join(', and '));
}

function offered(reason: Reason, texts: readonly string[], otherwise: string): Offer {
  const choices = texts.map((suggestion) => ({ ...reason, suggestion }));
  return {
    choices,
    join: (working) =>
      working.length === choices.length
        ? reason
        : { ...reason, suggestion: working.map(({ suggestion }) => suggestion).join(', or ') },
    otherwise,
  };
}
