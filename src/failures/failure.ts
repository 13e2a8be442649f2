// What the catalogue is made of: a failure mode (an entry), the signs by which it shows in text, and what a diagnosis says
// about it. Entries are data and pure functions over evidence; they read no file, no clock and no network.
import type { Evidence } from './evidence.ts';

export type Severity = 'critical' | 'high' | 'medium' | 'low';

/** Most serious first. */
export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

/** `certain`: proven by the evidence. `likely`: typical signature, other causes possible. `possible`: a suspicion. */
export type Confidence = 'certain' | 'likely' | 'possible';

/** Surest first. */
export const confidences: readonly Confidence[] = ['certain', 'likely', 'possible'];

/** `area/name`, as in the catalogue. */
export type FailureId = `${string}/${string}`;

export interface ObjectRef {
  kind: string;
  name: string;
  namespace?: string;
}

export interface EvidenceItem {
  /** Path in the bundle, with `:line` for texts; of a live cluster the object, or the call of AWS. */
  source: string;
  text: string;
}

/** What one check or one line of text found; findings of one id and key become one. */
export interface Found {
  confidence: Confidence;
  summary: string;
  evidence: readonly EvidenceItem[];
  /** Commands or field changes to paste, with real names. */
  fix: readonly string[];
  objects?: readonly ObjectRef[];
  /** Separates two findings of one id, such as two roles; without it everything of the id is one finding. */
  key?: string;
  /** Further consequences, where they depend on what was found: which action is refused, for instance. */
  explains?: readonly string[];
}

/** What a check reads. When a need is not met, an absent finding proves nothing and the check counts as not made. */
export interface Need {
  /** Completes "needs …": a permission or a path in the bundle. */
  what: string;
  isMet(evidence: Evidence): boolean;
}

/** Where a text comes from. `asked`: someone gave this text and wants to know what it means. */
export type TextKind = 'log' | 'node' | 'cli' | 'object' | 'asked';

/** Things that end a trouble when they come after it in the same text. */
export type Milestone =
  | 'registered'
  | 'nodeReady'
  | 'launched'
  | 'controllerStarted'
  | 'podStarted'
  | 'sandboxPulled'
  | 'controllerDescribed'
  | 'otherComponent'
  | 'nodeDeleted'
  | 'queueRead'
  | 'controllerUninstalled'
  | 'autoscaler';

/** How a failure shows in text. */
export interface Sign {
  /** Literals in lower case, one of which is in every match: the scanner looks closer only where one stands. */
  words: readonly string[];
  /** Matched against text whose escapes are undone and whose blanks are single; may reach over a few wrapped lines. */
  pattern: RegExp;
  /** Not a sign when this matches the same lines. */
  unless?: RegExp;
  /** `certain` by default. */
  confidence?: Confidence;
  /** Kinds of text in which it counts; all by default. */
  where?: readonly TextKind[];
  /** Not a sign when one of these follows in the same text. */
  until?: readonly Milestone[];
  /** In a log, counts only where the text is the autoscaler's own: others have such lines for reasons of their own. */
  ownLog?: true;
  /** Counts only where the same text also says this, however far away: the head of `kubectl describe`, for instance. */
  beside?: Milestone;
  /** Counts although the object of the event is well: about its removal, not its start. */
  evenWhenWell?: true;
  /**
   * While it lasts, a log says it again within this time: a log that goes on for longer without it shows that it is over.
   * For what no milestone ends.
   */
  repeatsWithinMs?: number;
  /** Only a sign when it stands at least this often in one text (a lone transient error is not a failure). */
  atLeast?: number;
  /** Or, where it stands more rarely, when its first and last line are this far apart. */
  orLastsMs?: number;
}

/** A place in a text where a sign was seen. */
export interface Sighting {
  id: FailureId;
  sign: Sign;
  kind: TextKind;
  source: string;
  /** First line of the match; undefined for texts that are fields of an object. */
  line?: number;
  /** The line as written, shortened. */
  text: string;
  /** Match against the cleaned text. */
  groups: Readonly<Record<string, string | undefined>>;
  /** The cleaned text around, for names that the pattern does not capture. */
  around: string;
  timeMs?: number;
  /** How often it stands in this text. */
  count: number;
  /** The object whose event or status field the text is. */
  about?: ObjectRef;
}

export interface Failure {
  id: FailureId;
  severity: Severity;
  /** What people see. */
  symptom: string;
  cause: string;
  /** The remedy in general, for the reference page; findings carry it with real names. */
  fix: string;
  /** What the check needs in order to say "clear"; empty for failures that show in text alone. */
  needs: readonly Need[];
  signs?: readonly Sign[];
  /** A finding out of sightings; by default the cause, with the lines as evidence and the general fix. */
  fromText?(sightings: readonly Sighting[], evidence: Evidence): readonly Found[];
  /** Looks at objects and AWS answers. */
  check?(evidence: Evidence): readonly Found[];
  /** Ids, or areas such as `init/`, that are consequences of this one. */
  explains?: readonly string[];
  /** Consequences only where a text alone shows them: what an object or an answer proves is a cause of its own. */
  explainsInText?: readonly string[];
  /** A line that only looks like trouble: mentioned when someone asks about the text, as harmless. */
  harmless?: true;
}

export interface Consequence {
  id: FailureId;
  summary: string;
  objects: readonly ObjectRef[];
}

export interface Finding {
  id: FailureId;
  severity: Severity;
  confidence: Confidence;
  objects: readonly ObjectRef[];
  summary: string;
  evidence: readonly EvidenceItem[];
  fix: readonly string[];
  /** What this explains: not findings of their own. */
  consequences?: readonly Consequence[];
  harmless?: true;
}

export type CheckOutcome =
  | { id: FailureId; outcome: 'found'; explainedBy?: FailureId }
  | { id: FailureId; outcome: 'clear' }
  | { id: FailureId; outcome: 'not made'; needs: string };

export interface Diagnosis {
  findings: readonly Finding[];
  checks: readonly CheckOutcome[];
}
