// How many vCPUs an EC2 instance type has, from its name alone: good enough to tell a limit that no node fits under.

/** A lower bound; undefined for names that do not tell (metal, unknown shapes). */
export function leastVcpus(instanceType: string): number | undefined {
  const match = /^([a-z]+)(\d+)[a-z0-9-]*\.(\w[\w-]*)$/.exec(instanceType);
  if (match === null) return undefined;
  const [, family = '', generation = '', size = ''] = match;
  const times = /^(\d+)xlarge$/.exec(size)?.[1];
  if (times !== undefined) return 4 * Number(times);
  if (size === 'xlarge') return 4;
  if (size === 'large') return 2;
  // From the third generation on every burstable size has two vCPUs; other families' medium has one.
  if (['nano', 'micro', 'small', 'medium'].includes(size)) return family === 't' && Number(generation) >= 3 ? 2 : 1;
  return undefined;
}
