// Host ports: a node can give each address, port and protocol to one pod only. The unspecified address means all.

import type { Pod } from '../kube/objects.ts';

export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

const noPorts: readonly HostPort[] = [];

export function hostPortsOf(pod: Pod): readonly HostPort[] {
  let ports: HostPort[] | undefined;
  for (const container of portHolders(pod)) {
    if (container.ports === undefined || container.ports === null) continue;
    for (const { hostPort, hostIP, protocol } of container.ports) {
      if (hostPort) (ports ??= []).push({ ip: hostIP || '0.0.0.0', port: hostPort, protocol: protocol || 'TCP' });
    }
  }
  return ports ?? noPorts;
}

type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

/** Containers that run beside each other: sidecars are init containers that keep running. */
function portHolders({ spec }: Pod): readonly Container[] {
  const containers = spec?.containers ?? [];
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return sidecars.length === 0 ? containers : [...containers, ...sidecars];
}

export function conflictBetween(
  wanted: readonly HostPort[],
  taken: readonly HostPort[],
): { wanted: HostPort; taken: HostPort } | undefined {
  for (const port of wanted) {
    const other = taken.find((candidate) => collide(port, candidate));
    if (other !== undefined) return { wanted: port, taken: other };
  }
  return undefined;
}

export function portsConflict(wanted: readonly HostPort[], taken: readonly HostPort[]): boolean {
  return wanted.length > 0 && taken.length > 0 && conflictBetween(wanted, taken) !== undefined;
}

function collide(left: HostPort, right: HostPort): boolean {
  return (
    left.port === right.port &&
    left.protocol === right.protocol &&
    (left.ip === right.ip || isUnspecified(left.ip) || isUnspecified(right.ip))
  );
}

function isUnspecified(ip: string): boolean {
  return ip === '0.0.0.0' || ip === '::';
}
