// One look at the account before launches: what AWS says about the roles, subnets, groups and queue that node classes use.
// Questions are asked one after another, within one deadline for all of them; what is refused for lack of a right, throttled
// or late is not known, and its check is not made. Answers are fresh: nothing is kept from look to look.
import { DescribeSecurityGroupsCommand } from '@aws-sdk/client-ec2';
import type { Clock } from '../../base/index.ts';
import { AwsAnswers, apiServerGroups, evidenceOf } from '../../failures/index.ts';
import type { AwsClients } from '../clients/clients.ts';
import {
  type AccountAnswer,
  type AccountClients,
  type AccountQuestion,
  type AccountQuestions,
  accountQuestions,
  answerOf,
  furtherQuestions,
} from './questions.ts';

export interface LookOptions {
  clients: AccountClients;
  clock: Clock;
  /** IAM has no endpoint in the VPC: its calls would only run into their time-outs. */
  isolatedVpc: boolean;
  /** Addresses of a subnet that launches under way will take and EC2's count does not show yet. */
  takenAddresses(subnetId: string): number;
}

export interface Look {
  aws: AwsAnswers;
  /** AWS asked to slow down: the rest was not asked. */
  isThrottled: boolean;
}

/** All questions of a look together. */
const longestMs = 60_000;

const asked =
  /^(?:eks-(?:describe-cluster|list-access-entries|describe-access-entry)|iam-(?:get-role|list-attached|list-role-policies|get-instance-profile)|ec2-(?:describe-subnets|get-ebs)|sqs-|events-list-|kms-)/;
const throttled = /\((?:Throttling\w*|RequestLimitExceeded|TooManyRequests\w*|SlowDown)\)/;

export async function lookAtAccount(options: LookOptions, names: AccountQuestions): Promise<Look> {
  const { clients, clock, isolatedVpc } = options;
  const aws = new AwsAnswers();
  const endsMs = clock.elapsed() + longestMs;
  const isAsked = ({ name }: AccountQuestion): boolean => asked.test(name) && !(isolatedVpc && name.startsWith('iam-'));
  const questions = accountQuestions(clients, names).filter(isAsked);
  const ask = async (question: AccountQuestion): Promise<boolean> => {
    const leftMs = endsMs - clock.elapsed();
    if (leftMs <= 0) return false;
    const answer = await within(clock, leftMs, question);
    if (answer.kind === 'refusal') aws.addRefusal(answer.name, answer.text, answer.name);
    else aws.add(answer.name, lessTaken(answer, options), answer.name);
    questions.push(...furtherQuestions(clients, answer).filter(isAsked));
    return answer.kind === 'answer' || !throttled.test(answer.text);
  };
  for (const question of questions) if (!(await ask(question))) return { aws, isThrottled: true };
  const groups = apiServerGroups(evidenceOf({ aws }));
  if (groups.length > 0) await ask(groupsQuestion(clients.ec2, groups));
  return { aws, isThrottled: false };
}

/** A question that is not answered in time is given up; its call ends by its own deadline. */
async function within(clock: Clock, leftMs: number, question: AccountQuestion): Promise<AccountAnswer> {
  const over = new AbortController();
  const late = clock
    .sleep(leftMs, over.signal)
    .catch(() => undefined)
    .then((): AccountAnswer => ({ name: question.name, kind: 'refusal', text: 'no answer in time' }));
  try {
    return await Promise.race([answerOf(question), late]);
  } finally {
    over.abort();
  }
}

function lessTaken({ name, body }: AccountAnswer & { kind: 'answer' }, { takenAddresses }: LookOptions): object {
  if (name !== 'ec2-describe-subnets' || !('Subnets' in body) || !Array.isArray(body.Subnets)) return body;
  const Subnets = body.Subnets.map((subnet: { SubnetId?: string; AvailableIpAddressCount?: number }) => ({
    ...subnet,
    ...(subnet.AvailableIpAddressCount === undefined
      ? {}
      : { AvailableIpAddressCount: subnet.AvailableIpAddressCount - takenAddresses(subnet.SubnetId ?? '') }),
  }));
  return { ...body, Subnets };
}

/** Groups in front of the API server: those whose rules decide who reaches it. */
export const groupsQuestion = (ec2: AwsClients['ec2'], ids: readonly string[]): AccountQuestion => ({
  name: 'ec2-describe-security-groups',
  ask: () => ec2.send(new DescribeSecurityGroupsCommand({ Filters: [{ Name: 'group-id', Values: [...ids] }] })),
});
