// Who we are to AWS: the first thing to compare with a policy when something is not allowed. Needs no permission.
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';

/** The ARN; undefined when STS cannot be asked, which stops nothing. */
export async function callerOf(sts: STSClient): Promise<string | undefined> {
  try {
    return (await sts.send(new GetCallerIdentityCommand({}))).Arn;
  } catch {
    return undefined;
  }
}
