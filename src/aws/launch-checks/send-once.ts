// One attempt, whatever the client's retries are: for dry runs, whose refusal is the answer and which the loop repeats
// anyway. The SDK has no setting for one call, so the refusal is carried past its retries as if it were an answer.

import type { CreateFleetCommand, EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { MetadataBearer } from '@smithy/types';

interface Refused {
  refusal?: unknown;
}

export async function sendOnce(ec2: EC2Client, command: CreateFleetCommand | RunInstancesCommand): Promise<void> {
  // Both commands have the same stack; only their types differ.
  const either = command as CreateFleetCommand;
  either.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (refusal) {
        return { response: undefined, output: { $metadata: {}, refusal } as Refused & MetadataBearer };
      }
    },
    // Around the reading of the response, inside the retries.
    { step: 'deserialize', priority: 'high', name: 'carryRefusal' },
  );
  const { refusal } = (await ec2.send(either)) as Refused;
  if (refusal !== undefined) throw refusal;
}
