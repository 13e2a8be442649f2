// What `kerf preflight` says, as data: the verdict, what was found, and every line that someone should look at.

/** `stop`: do not switch before it is changed. `look`: switch, but know it. */
export type Level = 'stop' | 'look';

export interface Finding {
  level: Level;
  /** The object, setting or value it is about. */
  about: string;
  text: string;
  fix?: string;
}

/** A node that would be replaced because of the switch, or that has drifted already. */
export interface DriftLine {
  nodeClaim: string;
  nodePool: string;
  reason: string;
  fields: string[];
  /** Karpenter (or Kerf) says so already: the switch is not the cause. */
  isKnown: boolean;
}

export interface SettingLine {
  name: string;
  value: string;
  becomes: string;
}

/** Of one NodeClaim, enough to see later whether someone touched it. */
export interface ClaimMark {
  name: string;
  uid: string;
  /** Of what must not be rewritten: labels, annotations with hashes, spec. */
  digest: string;
  /** Its node has come: from then on no one has a reason to change what the digest covers. */
  isRegistered: boolean;
  isDrifted: boolean;
  isLeaving: boolean;
}

export interface Running {
  program: 'karpenter' | 'kerf' | 'none';
  version?: string;
  /** `namespace/name`. */
  deployment?: string;
  image?: string;
  serviceAccount?: string;
  lease?: { name: string; holder: string; isKerf: boolean; since?: string };
}

export interface PreflightReport {
  apiVersion: 'kerf/v1';
  kind: 'Preflight';
  verdict: 'go' | 'no go';
  /** `after`: Kerf is in charge already. */
  phase: 'before' | 'after';
  time: string;
  running: Running;
  counts: { nodePools: number; nodeClaims: number; launching: number; leaving: number };
  findings: Finding[];
  drift: DriftLine[];
  settings: SettingLine[];
  gates: string[];
  missingRights: string[];
  notChecked: string[];
  /** After the switch, with `--before`: what became of the claims there were. */
  since?: Comparison;
  claims: ClaimMark[];
}

export interface Comparison {
  from: string;
  gone: string[];
  added: string[];
  rewritten: string[];
  newlyDrifted: string[];
}
