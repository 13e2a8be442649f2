// The entries of crd/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { admissionWebhookUnreachable } from './admission-webhook-unreachable.ts';
import { amiSelectorRequired } from './ami-selector-required.ts';
import { consolidateAfterNotAllowedV1beta1 } from './consolidate-after-not-allowed-v1beta1.ts';
import { consolidationPolicyRenamed } from './consolidation-policy-renamed.ts';
import { conversionWebhookBlocksGarbageCollection } from './conversion-webhook-blocks-garbage-collection.ts';
import { conversionWebhookWrongTarget } from './conversion-webhook-wrong-target.ts';
import { nodeclassrefIncomplete } from './nodeclassref-incomplete.ts';
import { nodepoolNotReadyBecauseNodeclass } from './nodepool-not-ready-because-nodeclass.ts';
import { removedApiVersion } from './removed-api-version.ts';
import { unknownField } from './unknown-field.ts';

export const crd: readonly Failure[] = [
  removedApiVersion,
  nodeclassrefIncomplete,
  consolidationPolicyRenamed,
  consolidateAfterNotAllowedV1beta1,
  unknownField,
  conversionWebhookWrongTarget,
  conversionWebhookBlocksGarbageCollection,
  nodepoolNotReadyBecauseNodeclass,
  amiSelectorRequired,
  admissionWebhookUnreachable,
];
