// Settings of the VPC CNI, read from its DaemonSet.
import type { Evidence } from '../../evidence.ts';
import { containersOf, envOf, podSpecOf } from '../../facts.ts';
import { textAt } from '../../fields.ts';
import type { Stored } from '../../objects.ts';

export interface CniSettings {
  daemon: Stored;
  hasPrefixes: boolean;
  hasPodEni: boolean;
}

/** Undefined when the plugin was not collected or is another one. */
export function cniSettings({ objects }: Evidence): CniSettings | undefined {
  const daemon = objects.find('DaemonSet', 'aws-node', 'kube-system');
  if (daemon === undefined) return undefined;
  const container = containersOf(podSpecOf(daemon)).find((one) => textAt(one, 'name') === 'aws-node');
  return {
    daemon,
    hasPrefixes: envOf(container, 'ENABLE_PREFIX_DELEGATION') === 'true',
    hasPodEni: envOf(container, 'ENABLE_POD_ENI') === 'true',
  };
}

/** What the plugin says when a pod gets no address. */
export const noAddress = /failed to assign an IP address to container/i;
