// Tells whether the process that wrote its identity into a file is still the one running under that id. Ids are reused;
// the kernel's start time is not.
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot; empty where there is no /proc, and then the id alone has to do. */
  startTime: string;
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTime: statOf(pid)?.startTime ?? '' };
}

export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.pid <= 0) return false;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const stat = statOf(identity.pid);
  if (stat === undefined) return true;
  // A zombie holds its id until its parent collects it, but does nothing any more.
  return stat.state !== 'Z' && stat.startTime === identity.startTime;
}

function statOf(pid: number): { state: string; startTime: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; the third follows the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
