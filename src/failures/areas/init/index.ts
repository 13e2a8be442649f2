// The entries of init/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { cniNotInitialised } from './cni-not-initialised.ts';
import { coreDaemonsetsAbsent } from './core-daemonsets-absent.ts';
import { daemonsetSelectsLegacyLabel } from './daemonset-selects-legacy-label.ts';
import { gpuDevicePluginMissing } from './gpu-device-plugin-missing.ts';
import { neverInitialisedNeverRemoved } from './never-initialised-never-removed.ts';
import { podEniNotRegistered } from './pod-eni-not-registered.ts';
import { startupTaintNotRemoved } from './startup-taint-not-removed.ts';

export const init: readonly Failure[] = [
  coreDaemonsetsAbsent,
  daemonsetSelectsLegacyLabel,
  cniNotInitialised,
  gpuDevicePluginMissing,
  podEniNotRegistered,
  startupTaintNotRemoved,
  neverInitialisedNeverRemoved,
];
