// A real component (control plane, AWS emulator) that this machine cannot provide. The message says which, why, and what
// to install; whoever catches it decides whether that is an error (in CI, always) or a loud note.
export interface MissingComponentFacts {
  component: string;
  problem: string;
  remedy: string;
  cause?: unknown;
}

export class MissingComponent extends Error {
  override readonly name = 'MissingComponent';
  readonly code = 'MissingComponent';
  readonly component: string;

  constructor({ component, problem, remedy, cause }: MissingComponentFacts) {
    super(`cannot provide ${component}: ${problem}; ${remedy}`, cause === undefined ? {} : { cause });
    this.component = component;
  }
}
