// One call about many ids, then one call each for those it did not answer: EC2 fails a whole request over one bad id, and
// may answer half. So that one caller's bad id costs the others nothing but a moment.

/** `ask` answers what it knows, by id. The result has one entry per id given; undefined is "EC2 knows nothing of it". */
export async function askTogether<Answer>(
  ids: readonly string[],
  ask: (ids: string[]) => Promise<ReadonlyMap<string, Answer>>,
): Promise<PromiseSettledResult<Answer | undefined>[]> {
  const distinct = [...new Set(ids)];
  const together = await ask(distinct).catch(() => undefined);
  const settled = new Map<string, PromiseSettledResult<Answer | undefined>>();
  const alone: string[] = [];
  for (const id of distinct) {
    const value = together?.get(id);
    // Asked alone already: the same question again would get the same answer.
    if (value !== undefined || (together !== undefined && distinct.length === 1))
      settled.set(id, { status: 'fulfilled', value });
    else alone.push(id);
  }
  const answers = await Promise.allSettled(alone.map(async (id) => (await ask([id])).get(id)));
  answers.forEach((answer, index) => settled.set(alone[index] as string, answer));
  return ids.map((id) => settled.get(id) ?? { status: 'fulfilled', value: undefined });
}
