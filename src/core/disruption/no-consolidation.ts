// Why nodes are not consolidated: a code for programs, and the words users of Karpenter know from events.

export type NoConsolidationCode =
  | 'PodsDoNotFit'
  | 'DestinationNotReady'
  | 'NeedsMoreNodes'
  | 'NotCheaper'
  | 'MinValuesUnsatisfied'
  | 'SpotToSpotDisabled'
  | 'SpotToSpotInflexible'
  | 'ReplacementLoop'
  | 'PaybackTooLong';

export interface NoConsolidation {
  readonly kind: 'none';
  readonly code: NoConsolidationCode;
  readonly message: string;
  /** What else would keep the node, were this not so. */
  readonly also?: readonly Pick<NoConsolidation, 'code' | 'message'>[];
}

export function none(code: NoConsolidationCode, message: string): NoConsolidation {
  return { kind: 'none', code, message };
}
