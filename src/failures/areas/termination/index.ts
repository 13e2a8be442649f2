// The entries of termination/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { drainNeverCompletes } from './drain-never-completes.ts';
import { finalizerAfterUninstall } from './finalizer-after-uninstall.ts';
import { finalizerStripLeaksInstances } from './finalizer-strip-leaks-instances.ts';

export const termination: readonly Failure[] = [
  finalizerAfterUninstall,
  finalizerStripLeaksInstances,
  drainNeverCompletes,
];
