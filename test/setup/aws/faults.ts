// Failures on request: the next calls of an action are throttled, denied, dropped, delayed or never answered.
// Faults are used up in the order in which they were added; each says how often it strikes.

export interface Fault {
  /** As the API names it: `CreateFleet`, `ReceiveMessage`; `*` strikes any. */
  action: string;
  service?: string;
  /** How many calls it strikes; absent: one. */
  count?: number;
  /** How many matching calls it lets pass first. */
  after?: number;
  /** Answer with this error. */
  code?: string;
  message?: string;
  status?: number;
  /** Close the connection without an answer: `before` moto sees the call, or `after`, when its effect is real. */
  drop?: 'before' | 'after';
  /** Answer late. Alone: the true answer; together with a code or a drop: that. */
  delayMs?: number;
  /** Never answer, until the caller gives up. */
  hang?: boolean;
  /** Begin to answer, and stop in the middle of the body until the caller gives up. */
  stall?: boolean;
  /** Only calls whose body contains this text, for instance an instance id. */
  bodyContains?: string;
  /** Only calls signed with this access key. */
  accessKeyId?: string;
}

interface StruckCall {
  service: string;
  action: string;
  body: string;
  headers: Record<string, string>;
}

type PendingFault = Fault & { count: number; after: number };

export class Faults {
  private pending: PendingFault[] = [];

  add(fault: Fault): void {
    this.pending.push({ ...fault, count: fault.count ?? 1, after: fault.after ?? 0 });
  }

  clear(): void {
    this.pending = [];
  }

  /** The fault that strikes this call, used up by one. */
  take(call: StruckCall): Fault | undefined {
    for (const fault of this.pending) {
      if (!matches(fault, call)) continue;
      if (fault.after > 0) {
        fault.after -= 1;
        continue;
      }
      fault.count -= 1;
      if (fault.count <= 0) this.pending = this.pending.filter((other) => other !== fault);
      return fault;
    }
    return undefined;
  }
}

function matches(fault: Fault, call: StruckCall): boolean {
  if (fault.action !== '*' && fault.action !== call.action) return false;
  if (fault.service !== undefined && fault.service !== call.service) return false;
  const signature = `Credential=${fault.accessKeyId}/`;
  if (fault.accessKeyId !== undefined && !(call.headers['authorization'] ?? '').includes(signature)) return false;
  return fault.bodyContains === undefined || decodeURIComponent(call.body).includes(fault.bodyContains);
}
