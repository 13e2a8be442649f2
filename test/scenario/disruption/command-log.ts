// What the log says of a command when it starts.
import type { LogFields } from '../../../src/ports/index.ts';

/** The names of the nodes that go. */
export const nodesOf = (fields: LogFields): string[] =>
  (fields['disrupted-nodes'] as { Node: { name: string } }[]).map(({ Node }) => Node.name);
