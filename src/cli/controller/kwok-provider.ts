// The simulated provider behind `kerf controller --provider kwok`: nodes are objects, played by a KWOK controller or by us.
import { readFileSync } from 'node:fs';
import { type Clock, KerfError, messageOf } from '../../base/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import type { SnapshotObject } from '../../core/index.ts';
import { isKubeError, type Kube, type Log } from '../../ports/index.ts';
import type { Part } from '../../runtime/index.ts';
import type { Provider, ProviderTools } from '../../server/index.ts';
import {
  type BorrowedCatalogue,
  KwokCloud,
  kwokNodeClasses,
  kwokProviderFacts,
  readCatalogueFile,
  startFakeKubelets,
} from '../../sim/index.ts';
import { catalogueNamed, type SimulatedCatalogue, simulatedCatalogue } from '../simulated-catalogue.ts';

export interface KwokOptions {
  /** Catalogue of instance types; the one the cluster's node classes name if absent or empty. */
  instanceTypesFile?: string | undefined;
  fakeKubelets: boolean;
}

export function kwokProvider({ instanceTypesFile, fakeKubelets: plays }: KwokOptions) {
  const given = instanceTypesFile ? catalogueIn(instanceTypesFile) : undefined;
  return async ({ kube, clock, log, random }: ProviderTools): Promise<Provider> => {
    const catalogue = given ?? (await simulatedCatalogue(await catalogueOfCluster(kube)));
    const cloud = new KwokCloud({ kube, clock, log, random, ...catalogue });
    const prepare = async (): Promise<void> => cloud.recover((await kube.list(nodeClaims)).items);
    return { cloud, prepare, parts: [machines(cloud), ...(plays ? [fakeKubelets(kube, clock, log)] : [])] };
  };
}

/** `kerf up` says on its node class what it sells; plans for that cluster go by the same. */
async function catalogueOfCluster(kube: Kube): Promise<SimulatedCatalogue> {
  try {
    const { items } = await kube.list(kwokNodeClasses);
    return catalogueNamed(items.map((each) => ({ ...each, kind: 'KWOKNodeClass' }) as SnapshotObject));
  } catch (error) {
    // Without the definition there is no class yet; the caches say so when they start.
    if (isKubeError(error)) return 'generic';
    throw error;
  }
}

/** Machines that are on their way when the term ends are brought by whoever leads next. */
function machines(cloud: KwokCloud): Part {
  return {
    name: 'simulated machines',
    async run(signal) {
      await untilAborted(signal);
      cloud.dispose();
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function fakeKubelets(kube: Kube, clock: Clock, log: Log): Part {
  return {
    name: 'fake kubelets',
    async run(signal) {
      const kubelets = startFakeKubelets(kube, clock, {
        onFailure: (error) => log.debug('fake kubelet', { error: messageOf(error) }),
      });
      await untilAborted(signal);
      await kubelets.stop();
    },
  };
}

function catalogueIn(file: string): BorrowedCatalogue {
  try {
    const { instanceTypes, offeringKeys } = readCatalogueFile(JSON.parse(readFileSync(file, 'utf8')), file);
    return { catalogue: instanceTypes, facts: kwokProviderFacts(offeringKeys) };
  } catch (error) {
    if (error instanceof KerfError) throw error;
    throw new KerfError('CatalogueUnreadable', `cannot read the instance types of ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
