// Patterns that several kinds share. They must mean the same to the API server (RE2, unanchored) and to JavaScript.

/** A label key or a taint's key: an optional lower-case domain and a name. */
export const qualifiedName =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';

export const labelValue = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';

/** Hours, minutes and seconds in whole numbers. */
export const duration = '^([0-9]+(s|m|h))+$';

export const durationOrNever = '^(([0-9]+(s|m|h))+|Never)$';

/** Any duration Go reads. */
export const goDuration = '^[+-]?((([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+|0)$';

/** What condition types look like. */
export const conditionType =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

export const conditionReason = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';

export const conditionReasonOrEmpty = '^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$';
