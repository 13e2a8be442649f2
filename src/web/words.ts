// Verdicts in words and marks: every colour has a word, every word a mark. Codes that say the same to a person share a class.

export type VerdictClass = 'needed' | 'settling' | 'held' | 'going' | 'coming' | 'leaving' | 'foreign' | 'unknown';

export interface Wording {
  word: string;
  class: VerdictClass;
}

const wordings: Readonly<Record<string, Wording>> = {
  NotCheaper: { word: 'needed', class: 'needed' },
  NeedsMoreNodes: { word: 'needed', class: 'needed' },
  PodsDoNotFit: { word: 'pods fit nowhere else', class: 'needed' },
  Unbalanced: { word: 'not worth moving', class: 'needed' },
  PaybackTooLong: { word: 'not worth moving', class: 'needed' },
  ReplacementLoop: { word: 'would go in circles', class: 'needed' },
  BufferPods: { word: 'holds a buffer', class: 'needed' },
  NotQuiet: { word: 'settling', class: 'settling' },
  DestinationNotReady: { word: 'waits for a node', class: 'settling' },
  Nominated: { word: 'pods are coming', class: 'settling' },
  NotInitialized: { word: 'joining', class: 'coming' },
  NoNode: { word: 'coming', class: 'coming' },
  PodBudgetExhausted: { word: 'held by a PDB', class: 'held' },
  PodBudgets: { word: 'held by two PDBs', class: 'held' },
  PodDoNotDisrupt: { word: 'pod: do-not-disrupt', class: 'held' },
  NodeDoNotDisrupt: { word: 'node: do-not-disrupt', class: 'held' },
  Budget: { word: 'held by the budget', class: 'held' },
  OnlyWhenEmpty: { word: 'policy: only when empty', class: 'held' },
  ConsolidationDisabled: { word: 'consolidation is off', class: 'held' },
  SpotToSpotDisabled: { word: 'spot to spot is off', class: 'held' },
  SpotToSpotInflexible: { word: 'too few spot types', class: 'held' },
  MinValuesUnsatisfied: { word: 'minValues', class: 'held' },
  StaticPool: { word: 'static pool', class: 'held' },
  NoRoomToExchange: { word: 'no room to exchange', class: 'held' },
  Removable: { word: 'will be removed', class: 'going' },
  Replaceable: { word: 'will be replaced', class: 'going' },
  Leaving: { word: 'leaving', class: 'leaving' },
  AlreadyDisrupting: { word: 'leaving', class: 'leaving' },
  NotManaged: { word: 'not managed', class: 'foreign' },
  '': { word: 'not judged yet', class: 'unknown' },
};

export const wordingOf = (code: string): Wording =>
  wordings[code] ?? { word: code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase(), class: 'held' };

/** Settings that keep a node only from moves that would save something; where nothing would be saved, it is needed. */
const onlyAgainstSaving = new Set([
  'OnlyWhenEmpty',
  'ConsolidationDisabled',
  'SpotToSpotDisabled',
  'SpotToSpotInflexible',
  'MinValuesUnsatisfied',
]);

export const wordingFor = ({ code, savingsPerHour }: { code: string; savingsPerHour: number }): Wording =>
  wordingOf(savingsPerHour === 0 && onlyAgainstSaving.has(code) ? 'NotCheaper' : code);

/** In the order of the bar: what stays for good reasons first, what goes last. */
export const classes: readonly VerdictClass[] = [
  'needed',
  'settling',
  'coming',
  'foreign',
  'held',
  'going',
  'leaving',
  'unknown',
];

export const glyphs: Readonly<Record<VerdictClass, string>> = {
  needed: '',
  settling: '◔',
  held: '■',
  going: '✕',
  coming: '↑',
  leaving: '↓',
  foreign: '◇',
  unknown: '?',
};

export const decisionWords: Readonly<Record<string, string>> = {
  launch: 'launch',
  place: 'place',
  refuse: 'refuse',
  disrupt: 'disrupt',
  hold: 'hold',
  interrupt: 'interrupt',
  repair: 'repair',
  expire: 'expire',
  config: 'change',
};
