// The entries of windows/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { dnsGroupMissing } from './dns-group-missing.ts';
import { imageHostVersionMismatch } from './image-host-version-mismatch.ts';
import { supportNotEnabled } from './support-not-enabled.ts';

export const windows: readonly Failure[] = [supportNotEnabled, imageHostVersionMismatch, dnsGroupMissing];
