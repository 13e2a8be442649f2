// Objects without what no check reads: a bundle of a hundred thousand pods fits into memory.

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of containers that checks read; environment only where settings of system components stand. */
const kept = ['name', 'image', 'resources', 'args', 'command'];

/** Changes the object in place. */
export function slim(object: unknown): unknown {
  if (!isFields(object)) return object;
  const metadata = object['metadata'];
  if (isFields(metadata)) {
    delete metadata['managedFields'];
    const annotations = metadata['annotations'];
    if (isFields(annotations)) delete annotations['kubectl.kubernetes.io/last-applied-configuration'];
  }
  if (object['kind'] === 'Pod') slimPod(object);
  if (object['kind'] === 'Node' && isFields(object['status'])) delete object['status']['images'];
  return object;
}

function slimPod(pod: Fields): void {
  const { spec, status } = pod;
  if (isFields(spec)) {
    delete spec['initContainers'];
    delete spec['ephemeralContainers'];
    const containers = spec['containers'];
    if (Array.isArray(containers))
      spec['containers'] = containers.map((container: unknown) => {
        if (!isFields(container)) return container;
        const isSystem = /karpenter|kerf|controller|aws-node/.test(String(container['name']));
        const fields = isSystem ? [...kept, 'env', 'envFrom'] : kept;
        return Object.fromEntries(fields.flatMap((field) => (field in container ? [[field, container[field]]] : [])));
      });
    const volumes = spec['volumes'];
    if (Array.isArray(volumes))
      spec['volumes'] = volumes.filter((volume) => isFields(volume) && 'persistentVolumeClaim' in volume);
  }
  if (!isFields(status)) return;
  delete status['initContainerStatuses'];
  const conditions = status['conditions'];
  if (Array.isArray(conditions))
    status['conditions'] = conditions.filter((one) => isFields(one) && one['status'] !== 'True');
  const statuses = status['containerStatuses'];
  if (Array.isArray(statuses))
    status['containerStatuses'] = statuses.map((one: unknown) =>
      isFields(one)
        ? {
            name: one['name'],
            ready: one['ready'],
            restartCount: one['restartCount'],
            state: one['state'],
            lastState: one['lastState'],
          }
        : one,
    );
}
