// The dialect of JSON Schema that CustomResourceDefinitions are written in ("structural schemas"), as a type. Our own kinds
// are built in it (build.ts); the walker, defaults and rules of this folder read any schema of this shape, also one that
// arrives as JSON at run time.

export interface ValidationRule {
  /** CEL; `self` is the value at this place, `oldSelf` the one before an update. */
  rule: string;
  message?: string;
  /** CEL that gives the message; `message` is the fallback. */
  messageExpression?: string;
  reason?: string;
  /** Where to report, relative to the value: `.spec.replicas`, `['a.b']`. */
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export interface Structural {
  type?: string;
  description?: string;
  title?: string;
  format?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Readonly<Record<string, Structural>>;
  additionalProperties?: boolean | Structural;
  items?: Structural;
  allOf?: readonly Structural[];
  anyOf?: readonly Structural[];
  oneOf?: readonly Structural[];
  not?: Structural;
  'x-kubernetes-validations'?: readonly ValidationRule[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
}
