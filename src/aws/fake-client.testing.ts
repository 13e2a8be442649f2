// AWS clients for unit tests: real SDK clients whose `send` is answered by functions, one per command, and remembered.
import { EC2Client } from '@aws-sdk/client-ec2';
import { EKSClient } from '@aws-sdk/client-eks';
import { IAMClient } from '@aws-sdk/client-iam';
import { PricingClient } from '@aws-sdk/client-pricing';
import { SSMClient } from '@aws-sdk/client-ssm';

type Answers = Record<string, (input: never) => unknown>;

export interface SentCall {
  /** `DescribeSubnets`, without the SDK's suffix. */
  action: string;
  input: Record<string, unknown>;
}

export interface Fake<Client> {
  client: Client;
  calls: SentCall[];
  /** Inputs of one action, in order. */
  inputs<Input = Record<string, unknown>>(action: string): Input[];
  answers: Answers;
}

const options = { region: 'us-west-2', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

function fake<Client extends { send: unknown }>(client: Client, answers: Answers): Fake<Client> {
  const calls: SentCall[] = [];
  client.send = async (command: { constructor: { name: string }; input: Record<string, unknown> }) => {
    const action = command.constructor.name.replace(/Command$/, '');
    calls.push({ action, input: command.input });
    const answer = answers[action];
    if (answer === undefined) throw new Error(`the test does not answer ${action}`);
    return answer(command.input as never);
  };
  return {
    client,
    calls,
    answers,
    inputs: <Input>(action: string) =>
      calls.filter((call) => call.action === action).map(({ input }) => input as unknown as Input),
  };
}

export const fakeEc2 = (answers: Answers): Fake<EC2Client> => fake(new EC2Client(options), answers);
export const fakeEks = (answers: Answers): Fake<EKSClient> => fake(new EKSClient(options), answers);
export const fakeIam = (answers: Answers): Fake<IAMClient> => fake(new IAMClient(options), answers);
export const fakeSsm = (answers: Answers): Fake<SSMClient> => fake(new SSMClient(options), answers);
export const fakePricing = (answers: Answers): Fake<PricingClient> => fake(new PricingClient(options), answers);

/** A refusal as the SDK throws it. */
export function awsRefusal(code: string, message = code, httpStatusCode = 400): Error {
  return Object.assign(new Error(message), { name: code, $metadata: { httpStatusCode } });
}
