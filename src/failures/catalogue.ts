// All failure modes, area by area in the order of the catalogue.
import { ami } from './areas/ami/index.ts';
import { crd } from './areas/crd/index.ts';
import { disruption } from './areas/disruption/index.ts';
import { helm } from './areas/helm/index.ts';
import { iam } from './areas/iam/index.ts';
import { init } from './areas/init/index.ts';
import { interruption } from './areas/interruption/index.ts';
import { net } from './areas/net/index.ts';
import { pricing } from './areas/pricing/index.ts';
import { registration } from './areas/registration/index.ts';
import { scheduling } from './areas/scheduling/index.ts';
import { startup } from './areas/startup/index.ts';
import { storage } from './areas/storage/index.ts';
import { termination } from './areas/termination/index.ts';
import { tooling } from './areas/tooling/index.ts';
import { windows } from './areas/windows/index.ts';
import type { Failure } from './failure.ts';

export const areas = {
  startup,
  crd,
  iam,
  ami,
  registration,
  init,
  scheduling,
  storage,
  net,
  windows,
  disruption,
  termination,
  interruption,
  pricing,
  helm,
  tooling,
} as const;

export const catalogue: readonly Failure[] = Object.values(areas).flat();
