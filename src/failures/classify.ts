// Which failure a piece of text is a sign of: an error of AWS at a launch, the console output of one machine. The same signs
// as in the doctor, for callers that have the whole text in hand.
import { catalogue } from './catalogue.ts';
import { diagnose } from './diagnose.ts';
import { type EvidenceInput, evidenceOf } from './evidence.ts';
import type { Finding, Sighting, TextKind } from './failure.ts';
import type { Codec } from './text/lines.ts';
import { TextScanner } from './text/scan.ts';

/** Console output is at most 64 KiB; an error message far less. Longer texts end here. */
const longestText = 256 * 1024;

export interface Classifier {
  /** Lines in which signs stand, to be put into evidence. */
  sightingsIn(text: string, kind: TextKind, source: string): readonly Sighting[];
  /** What the text is about, most serious first; nothing when no sign is in it. */
  classify(text: string, kind: TextKind, known?: EvidenceInput): Finding | undefined;
}

export function classifier(codec: Codec): Classifier {
  let scanner: TextScanner | undefined;
  const sightingsIn: Classifier['sightingsIn'] = (text, kind, source) =>
    (scanner ??= new TextScanner(catalogue, codec)).scan({ source, kind }, text.slice(-longestText)).sightings;
  return {
    sightingsIn,
    classify(text, kind, known = {}) {
      const sightings = sightingsIn(text, kind, 'text');
      if (sightings.length === 0) return undefined;
      const { findings } = diagnose(catalogue, evidenceOf({ ...known, sightings, texts: [kind] }));
      return findings.find(({ id }) => sightings.some((sighting) => sighting.id === id));
    },
  };
}
