// The entries of helm/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { chartNotFoundOrGenericError } from './chart-not-found-or-generic-error.ts';
import { crdOwnershipAnnotation } from './crd-ownership-annotation.ts';
import { crdOwnershipLabel } from './crd-ownership-label.ts';
import { namespaceMoved } from './namespace-moved.ts';
import { ociNeedsNewerClient } from './oci-needs-newer-client.ts';
import { registry403 } from './registry-403.ts';
import { versionPrefix } from './version-prefix.ts';

export const helm: readonly Failure[] = [
  ociNeedsNewerClient,
  versionPrefix,
  chartNotFoundOrGenericError,
  registry403,
  crdOwnershipLabel,
  crdOwnershipAnnotation,
  namespaceMoved,
];
