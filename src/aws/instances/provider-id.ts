// How a node names its machine: `aws:///us-east-1a/i-0123`. Read loosely, as other tools write other things before the
// slashes.

const pattern = /^.*:\/\/\/([^/]+)\/([^/]+)$/;

export function providerIdOf({ zone, id }: { zone: string; id: string }): string {
  return `aws:///${zone}/${id}`;
}

/** Undefined for anything that is not a machine of EC2. */
export function instanceIdOf(providerID: string): string | undefined {
  return pattern.exec(providerID)?.[2];
}
