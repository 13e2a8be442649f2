// The real components that suites need, and whether this machine can provide them. Providing means: built or installed
// in the cache, ready to start in seconds. The first time takes minutes, so it happens before any suite, not inside one.
import { provideImageSources } from '../../scripts/image/sources.ts';
import { provideMoto } from './aws/moto.ts';
import type { Progress } from './cache-folder.ts';
import { provideControlPlane } from './control-plane/programs.ts';
import { provideCosign } from './cosign.ts';
import { provideHelm } from './helm.ts';
import { provideKarpenterCharts } from './karpenter-charts.ts';
import { MissingComponent } from './missing-component.ts';
import { providePeer } from './peer.ts';
import { provideTerraformCheck } from './terraform-check.ts';

const providers = {
  'control plane': provideControlPlane,
  'AWS emulator': provideMoto,
  Helm: provideHelm,
  'image sources': provideImageSources,
  Karpenter: providePeer,
  "Karpenter's charts": provideKarpenterCharts,
  'Terraform parser': provideTerraformCheck,
  cosign: provideCosign,
} satisfies Record<string, (progress: Progress) => Promise<unknown>>;

export type ComponentName = keyof typeof providers;

/** Undefined when it is there; otherwise what is missing and what to install. */
export async function missingPartOf(name: ComponentName, progress: Progress): Promise<string | undefined> {
  try {
    await providers[name]((line) => progress(`${name}: ${line}`));
    return undefined;
  } catch (error) {
    if (error instanceof MissingComponent) return error.message;
    throw error;
  }
}

/** In CI a suite that cannot run is a failure, never a note. */
export function mustHaveEverything(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['CI'] !== undefined && env['CI'] !== '' && env['CI'] !== 'false';
}
