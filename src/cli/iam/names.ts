// What flags of `kerf iam` may say: AWS would refuse anything else, but only when the printed policies and templates are
// applied, and some of it would already have changed what they mean.
import { InvalidArgumentError } from 'commander';

type Parser = (text: string) => string;

function matching(pattern: RegExp, advice: string): Parser {
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`${advice}.`);
  };
}

export const clusterName = matching(
  /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/,
  'write the name of an EKS cluster: letters, digits, - and _, at most 100',
);

export const accountId = matching(/^\d{12}$/, 'write the twelve digits of an AWS account');

export const regionName = matching(/^[a-z]{2,4}(-[a-z]+)+-\d+$/, 'write a region such as eu-west-1');

export const queueName = matching(
  /^[0-9A-Za-z_-]{1,80}$/,
  'write its name, not its URL or ARN: letters, digits, - and _, at most 80',
);

/** A name, with its path if it has one, or an ARN. */
export const nodeRole = matching(
  /^(?:arn:[\w-]+:iam::\d{12}:role\/)?(?:[\w+=,.@-]+\/)*[\w+=,.@-]{1,64}$/,
  'write the name or the ARN of the role, not the instance profile: letters, digits and +=,.@-_, at most 64',
);

export const oidcIssuer = matching(
  /^https:\/\/[\w.-]+(\/[\w./-]*)?$/,
  'write the URL of the issuer, which begins with https://',
);

/** Of a namespace or a service account. */
export const kubernetesName = matching(
  /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/,
  'write a name of Kubernetes: lower-case letters, digits and -',
);
