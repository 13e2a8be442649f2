// What a newer version writes into objects that this build reads: fields, an operator and a condition it has never heard of.
// None of them may be lost to a write of ours.

/** In the order of its keys, as a real API server gives it back. */
const future = { levels: [1, 2, { deep: true }], mode: 'fast' };
const condition = {
  type: 'FutureReady',
  status: 'True',
  reason: 'Known',
  message: 'to come',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

interface Parts {
  spec?: object;
  status?: { conditions?: { type: string }[] };
}

/** The object with unknown fields in its spec; also inside the template of a pool. */
export function futureSpec(given: object): object {
  const object = given as Parts;
  const spec = { ...object.spec, future } as { template?: { spec?: object } };
  if (spec.template !== undefined) spec.template = { ...spec.template, spec: { ...spec.template.spec, future } };
  return { ...object, spec };
}

/** The object with unknown fields and a condition in its status. */
export function futureStatus(given: object): object {
  const object = given as Parts;
  const conditions = [...(object.status?.conditions ?? []).filter(({ type }) => type !== condition.type), condition];
  return { ...object, status: { ...object.status, future, conditions } };
}

/** What is missing of it. */
export function lostFuture(kind: string, object: object): string[] {
  const { metadata, spec, status } = object as {
    metadata: { name: string };
    spec?: { future?: unknown; template?: { spec?: { future?: unknown } } };
    status?: { future?: unknown; conditions?: { type: string; reason?: string }[] };
  };
  const kept = JSON.stringify(future);
  const places: [string, boolean][] = [
    ['spec.future', JSON.stringify(spec?.future) === kept],
    ['spec.template.spec.future', spec?.template === undefined || JSON.stringify(spec.template.spec?.future) === kept],
    ['status.future', JSON.stringify(status?.future) === kept],
    [`condition ${condition.type}`, status?.conditions?.some(({ reason }) => reason === condition.reason) === true],
  ];
  return places.flatMap(([place, isThere]) => (isThere ? [] : [`${kind} ${metadata.name} lost ${place}`]));
}
