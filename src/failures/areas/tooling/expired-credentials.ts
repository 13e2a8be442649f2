// The session of whoever ran the command has ended; nothing is known about the cluster yet.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const expiredCredentials: Failure = {
  id: 'tooling/expired-credentials',
  severity: 'low',
  symptom:
    '`An error occurred (ExpiredToken) when calling the GetCallerIdentity operation: The security token included in the request is expired`.',
  cause: 'The session of the person who ran the command has ended',
  fix: 'Renew the session (`aws sso login`, or new keys), then confirm with `aws sts get-caller-identity`.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['expiredtoken', 'requestexpired'],
      pattern:
        /\((?:ExpiredToken|ExpiredTokenException|RequestExpired)\) when calling the (?<operation>\w+) operation/i,
      where: ['cli', 'asked'],
    },
    {
      words: ['security token included in the request is expired', 'provided token has expired'],
      pattern: /(?:security token included in the request is expired|provided token has expired)/i,
      // In the controller's own log it is the controller's session.
      unless: /"logger":|"controller":|reconcil|controller-runtime|karpenter-global/i,
      where: ['cli', 'asked'],
    },
    {
      words: ['asked for the client to provide credentials'],
      pattern: /the server has asked for the client to provide credentials/i,
      unless: /kubelet\[|reflector\.go/i,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
    {
      words: ['sso session', 'sso token', 'token has expired and refresh failed', 'session has expired'],
      pattern:
        /SSO session associated with this profile has expired|Error loading SSO Token|Token has expired and refresh failed|SSO session has expired or is (?:otherwise )?invalid|refresh cached (?:SSO )?token failed/i,
      where: ['cli', 'asked'],
    },
  ],
  fromText(sightings) {
    const operation = caught(sightings, 'operation');
    return [
      foundIn(sightings, {
        summary: `The AWS session of whoever ran this command has expired${operation === undefined ? '' : ` (${operation} was refused)`}; it says nothing about the cluster.`,
        fix: ['aws sso login (or renew the keys the usual way)', 'aws sts get-caller-identity'],
      }),
    ];
  },
  explains: ['tooling/kubeconfig-wrong'],
};
