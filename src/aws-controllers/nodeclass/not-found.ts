// A selector that finds nothing, reported in an event with what it nearly found. The condition's own message stays what
// dashboards know.
import { type EC2NodeClass } from '../../api/index.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { subjectOf } from '../../controllers/index.ts';
import type { Recorder } from '../../ports/index.ts';

/** The most an event takes. */
export const longestMessage = 1_024;

/** `near` may fail: then only the message is reported. */
export type TellNotFound = (
  nodeClass: EC2NodeClass,
  what: { reason: string; message: string },
  near: () => Promise<string | undefined>,
) => Promise<void>;

export function tellNotFound(recorder: Recorder): TellNotFound {
  return async (nodeClass, { reason, message }, near) => {
    const nearly = await near().catch(() => undefined);
    recorder.publish({
      subject: subjectOf(`${ec2NodeClasses.group}/${ec2NodeClasses.version}`, ec2NodeClasses.kind, nodeClass),
      type: 'Warning',
      reason,
      message: (nearly === undefined ? message : `${message}: ${nearly}`).slice(0, longestMessage),
      dedupeMs: 10 * 60_000,
    });
  };
}
