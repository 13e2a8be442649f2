// Devices for nodes under construction: only devices that are not plugged into a node can serve them. The pod that asks is
// kept between the question and the answer, because a node is asked about many times before it is taken.

import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { PodGroup } from '../workload.ts';
import type { DeviceState, PendingDevices } from './device-state.ts';

const nobody: readonly string[] = [];

export class ClaimDevices {
  private readonly state: DeviceState | undefined;
  private asking: PodGroup | undefined;
  private pending: PendingDevices | undefined;

  constructor(state: DeviceState | undefined) {
    this.state = state;
  }

  ask(group: PodGroup): void {
    this.asking = group;
    this.pending = undefined;
  }

  /** What a node with these labels is narrowed to by the devices of the pod that asks; undefined if there are none for it. */
  narrowed(set: RequirementSet): RequirementSet | undefined {
    const devices = this.asking?.devices;
    if (devices === undefined || this.state === undefined) return set;
    this.pending = this.state.consider(devices, { nodeName: undefined, set });
    return this.pending?.set;
  }

  /** The node last asked about has been taken; answers whose devices the pod gets there. */
  commit(): readonly string[] {
    const { pending } = this;
    if (pending === undefined) return nobody;
    this.state?.commit(pending);
    this.pending = undefined;
    return pending.taken.map(({ device }) => device.driver);
  }
}
