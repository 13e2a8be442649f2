// What nodes really use, where the cluster serves it (metrics.k8s.io): asked for while someone looks, at most every 15
// seconds, which is how often a metrics server looks itself. Requests, which decide, are everywhere else.
import { type Clock, messageOf, quantityIn, tryParseQuantity } from '../../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type Resource } from '../../ports/index.ts';

interface NodeMetrics extends KubeObject {
  usage?: { cpu?: string; memory?: string };
}

const nodeMetrics: Resource<NodeMetrics> = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'nodes',
  kind: 'NodeMetrics',
  namespaced: false,
};

export interface UsageView {
  apiVersion: 'kerf/v1';
  kind: 'UsageView';
  /** False: the cluster serves none, or it may not be read. */
  served: boolean;
  message?: string;
  /** Cpu in thousandths, memory in MiB. */
  nodes: Record<string, [cpu: number, memory: number]>;
}

const lookMs = 15_000;
/** A cluster that serves none is asked again after this long. */
const notServedMs = 120_000;
const bytesPerMiB = 1024 * 1024;

export class Usage {
  private readonly kube: Pick<Kube, 'list'>;
  private readonly real: Clock;
  private known: Promise<UsageView> | undefined;
  private nextMs = Number.NEGATIVE_INFINITY;

  constructor(kube: Pick<Kube, 'list'>, real: Clock) {
    this.kube = kube;
    this.real = real;
  }

  read(): Promise<UsageView> {
    if (this.known === undefined || this.real.now() >= this.nextMs) {
      this.nextMs = this.real.now() + lookMs;
      this.known = this.readAnew();
    }
    return this.known;
  }

  private async readAnew(): Promise<UsageView> {
    try {
      const { items } = await this.kube.list(nodeMetrics);
      const nodes: UsageView['nodes'] = {};
      for (const { metadata, usage } of items) {
        nodes[metadata.name ?? ''] = [
          amount(usage?.cpu, 'milli'),
          Math.round(amount(usage?.memory, 'units') / bytesPerMiB),
        ];
      }
      return { apiVersion: 'kerf/v1', kind: 'UsageView', served: true, nodes };
    } catch (error) {
      this.nextMs = this.real.now() + notServedMs;
      const message = isKubeError(error, 'NotFound')
        ? 'the cluster serves no metrics.k8s.io (is a metrics server installed?)'
        : messageOf(error);
      return { apiVersion: 'kerf/v1', kind: 'UsageView', served: false, message, nodes: {} };
    }
  }
}

function amount(text: string | undefined, unit: 'units' | 'milli'): number {
  const parsed = text === undefined ? undefined : tryParseQuantity(text);
  return parsed === undefined ? 0 : quantityIn(unit, parsed);
}
