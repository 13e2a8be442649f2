// What people paste is often half evidence: between prompts and sentences stand objects as `kubectl get -o yaml` prints them
// and answers of the aws command. They are read as such, as far as a part of a cluster can be read without guessing: that
// something else is absent follows from none of them.

/** A piece of a text that is an object or an answer; `line` is that of its first character, from 1. */
export interface Piece {
  line: number;
  text: string;
}

export interface PastedAnswer extends Piece {
  /** As a file of a bundle would be called: `iam-get-role-nodes`. */
  name: string;
}

/** Lines that go on with a YAML document: indented, a list, a comment, a key at its top, or nothing. */
const goesOn = /^(?:\s|-(?: |-- ?$|$)|#|[A-Za-z]\w*:(?: |$)|$)/;

/** Objects in YAML and in indented JSON that begin at the margin. */
export function objectsIn(text: string): Piece[] {
  const lines = text.split('\n');
  const found: Piece[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    let end = at;
    if (/^apiVersion: \S+\s*$/.test(line)) {
      while (end < lines.length && goesOn.test((lines[end] ?? '').replace(/\r$/, ''))) end += 1;
    } else if (/^\{\s*$/.test(line) && /^\s+"apiVersion": "/.test(lines[at + 1] ?? '')) end = closing(lines, at);
    if (end === at) continue;
    found.push({ line: at + 1, text: lines.slice(at, end).join('\n') });
    at = end - 1;
  }
  return found;
}

/** The command, possibly behind a prompt: service, operation, and the rest of the line. */
const command = /^(?:.{0,80}?[$#>%❯]\s*)?aws ([a-z0-9]+) ([a-z][a-z-]+)\b(.*)$/;

/** Answers in JSON of commands that stand above them. Answers that a query changed are not what the operation says. */
export function answersIn(text: string): PastedAnswer[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at): PastedAnswer[] => {
    const [, service, operation, rest = ''] = command.exec(line.trimEnd()) ?? [];
    if (service === undefined || operation === undefined || /--query|--output (?:text|table|yaml)|\|/.test(rest))
      return [];
    let from = at + 1;
    while (from < lines.length && (lines[from] ?? '').trim() === '') from += 1;
    if (!/^\{\s*$/.test(lines[from] ?? '')) return [];
    const about = /--(?:role-name|queue-url|key-id|rule|instance-profile-name)[ =](\S+)/.exec(rest)?.[1] ?? '';
    const name = [service, operation, ...(about === '' ? [] : [about.split('/').at(-1)])].join('-');
    return [{ name, line: from + 1, text: lines.slice(from, closing(lines, from)).join('\n') }];
  });
}

/** Behind the brace at the margin that ends what begins here; where there is none, nothing. */
function closing(lines: readonly string[], from: number): number {
  for (let at = from + 1; at < lines.length; at += 1) if (/^\}\s*$/.test(lines[at] ?? '')) return at + 1;
  return from;
}

/** Kinds that say enough by themselves; of others a part would look like the whole. */
const alone = new Set(['EC2NodeClass', 'NodePool', 'NodeClaim', 'AWSNodeTemplate', 'Provisioner', 'StorageClass']);

export function saysEnough(kind: string, name: string): boolean {
  if (kind === 'ConfigMap') return name === 'aws-auth' || name === 'amazon-vpc-cni';
  if (kind === 'Deployment') return name === 'karpenter' || name === 'kerf';
  return alone.has(kind);
}
