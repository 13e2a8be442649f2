// What a controller says about itself on its Lease: what it was set to, and what it knows that no object says. A reader
// without it, or without the right to read it, assumes defaults; either way it says which settings counted.
import { annotation } from '../../api/names.ts';
import { parseTime } from '../../base/index.ts';
import type { PublishedSettings, PublishedState } from '../../controllers/index.ts';
import { isKubeError, type Kube, type Lease, resources } from '../../ports/index.ts';

export interface ControllerFacts {
  /** `namespace/name` of the Lease. */
  lease: string;
  settings: PublishedSettings;
  state: PublishedState;
}

export type ControllerReading = { kind: 'found'; facts: ControllerFacts } | { kind: 'none' | 'forbidden' };

/** Kubelets keep a Lease each; they are left out of the list. */
const notOfNodes = 'metadata.namespace!=kube-node-lease';

export async function readController(kube: Pick<Kube, 'list'>): Promise<ControllerReading> {
  let leases: Lease[];
  try {
    ({ items: leases } = await kube.list(resources.leases, { fieldSelector: notOfNodes }));
  } catch (thrown) {
    if (isKubeError(thrown, 'Forbidden')) return { kind: 'forbidden' };
    if (isKubeError(thrown, 'NotFound')) return { kind: 'none' };
    throw thrown;
  }
  const published = leases
    .filter(({ metadata }) => metadata.annotations?.[annotation.controllerSettings] !== undefined)
    // The one that was renewed last; one without a time was written by a controller without an election.
    .sort((left, right) => ((left.spec?.renewTime ?? '') < (right.spec?.renewTime ?? '') ? 1 : -1));
  for (const { metadata } of published) {
    const settings = parsed<PublishedSettings>(metadata.annotations?.[annotation.controllerSettings]);
    const state = parsed<PublishedState>(metadata.annotations?.[annotation.controllerState]) ?? {};
    const isReadable = typeof settings?.provider === 'string' && typeof settings.settings === 'object';
    if (isReadable)
      return { kind: 'found', facts: { lease: `${metadata.namespace}/${metadata.name}`, settings, state } };
  }
  return { kind: 'none' };
}

/** The time of the cluster, where it passes at a pace of its own. */
export function clusterTimeMs(realMs: number, { clock }: PublishedState): number {
  const [from, realFrom] = [parseTime(clock?.time ?? ''), parseTime(clock?.realTime ?? '')];
  if (clock === undefined || from === undefined || realFrom === undefined) return realMs;
  return from + Math.max(0, realMs - realFrom) * clock.speed;
}

/** One line about the settings that count. */
export function settingsNote(reading: ControllerReading, given: readonly string[]): string | undefined {
  const flags = given.length === 0 ? '' : `, and the flags ${given.join(', ')}`;
  if (reading.kind === 'found') {
    const { lease, settings } = reading.facts;
    const gates = Object.entries(settings.settings.featureGates ?? {})
      .filter(([, isOn]) => isOn)
      .map(([name]) => name);
    return `settings of the controller with Lease ${lease}${gates.length === 0 ? '' : `, gates on: ${gates.join(', ')}`}${flags}`;
  }
  const why =
    reading.kind === 'forbidden'
      ? 'the Leases of the cluster may not be read'
      : 'no Lease says what a controller was set to';
  return `${why}: assumed the default settings${flags}; give --feature-gates, --preference-policy or --min-values-policy if yours differ`;
}

function parsed<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
