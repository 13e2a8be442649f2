// What `kerf convert` did and what it left to a person. A note names the object, the field and the rule it follows.

export interface Note {
  /** `changed`: the meaning is the same as before. `decide`: someone must look at it. */
  kind: 'changed' | 'decide';
  /** Rule of `kerf validate` that the old text broke. */
  rule?: string;
  text: string;
}

/** Gathers the notes of one object. */
export class Notes {
  readonly list: Note[] = [];

  changed(text: string, rule?: string): void {
    this.list.push({ kind: 'changed', text, ...(rule === undefined ? {} : { rule }) });
  }

  decide(text: string, rule?: string): void {
    this.list.push({ kind: 'decide', text, ...(rule === undefined ? {} : { rule }) });
  }
}

export const noteText = ({ kind, rule, text }: Note): string =>
  `${kind === 'decide' ? 'decide: ' : ''}${text}${rule === undefined ? '' : ` (${rule})`}`;
