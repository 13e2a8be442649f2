// The cases of every area; each file belongs to whoever works on the area.

import type { FailureCase } from '../case.testing.ts';
import { amiCases } from './ami/ami.cases.testing.ts';
import { crdCases } from './crd/crd.cases.testing.ts';
import { disruptionCases } from './disruption/disruption.cases.testing.ts';
import { helmCases } from './helm/helm.cases.testing.ts';
import { iamCases } from './iam/iam.cases.testing.ts';
import { volumeKeyCases } from './iam/volume-keys.cases.testing.ts';
import { initCases } from './init/init.cases.testing.ts';
import { interruptionCases } from './interruption/interruption.cases.testing.ts';
import { netCases } from './net/net.cases.testing.ts';
import { pricingCases } from './pricing/pricing.cases.testing.ts';
import { registrationCases } from './registration/registration.cases.testing.ts';
import { schedulingCases } from './scheduling/scheduling.cases.testing.ts';
import { startupCases } from './startup/startup.cases.testing.ts';
import { storageCases } from './storage/storage.cases.testing.ts';
import { terminationCases } from './termination/termination.cases.testing.ts';
import { toolingCases } from './tooling/tooling.cases.testing.ts';
import { windowsCases } from './windows/windows.cases.testing.ts';

export const allCases: readonly FailureCase[] = [
  ...startupCases,
  ...crdCases,
  ...iamCases,
  ...volumeKeyCases,
  ...amiCases,
  ...registrationCases,
  ...initCases,
  ...schedulingCases,
  ...storageCases,
  ...netCases,
  ...windowsCases,
  ...disruptionCases,
  ...terminationCases,
  ...interruptionCases,
  ...pricingCases,
  ...helmCases,
  ...toolingCases,
];
