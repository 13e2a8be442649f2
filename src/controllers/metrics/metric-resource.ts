/** A resource as the value of a metric's label: `ephemeral-storage` is `ephemeral_storage`, `nvidia.com/gpu` stays. */
export function metricResource(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}
