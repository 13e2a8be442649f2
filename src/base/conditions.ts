// Conditions of an object's status, as every Kubernetes object lists them.

export function conditionOf<T extends { readonly type?: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}
