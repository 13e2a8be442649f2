// Which rules let a node reach the API server: only a sure refusal counts.
import { describe, expect, test } from 'vitest';
import { AwsAnswers } from './aws-answers.ts';
import { evidenceOf } from './evidence.ts';
import { admits, apiServerGroups } from './network-rules.ts';

const tcp = (change: object): object => ({ IpProtocol: 'tcp', FromPort: 443, ToPort: 443, ...change });
const fromNodes = { UserIdGroupPairs: [{ GroupId: 'sg-node' }] };

describe('the way to the API server', () => {
  test.each<[string, object, boolean]>([
    ['all traffic from its group', { IpProtocol: '-1', ...fromNodes }, true],
    ['a range of ports', tcp({ FromPort: 0, ToPort: 1024, ...fromNodes }), true],
    ['another port', tcp({ FromPort: 10_250, ToPort: 10_250, ...fromNodes }), false],
    ['its network', tcp({ IpRanges: [{ CidrIp: '10.1.0.0/16' }] }), true],
    ['another network', tcp({ IpRanges: [{ CidrIp: '10.2.0.0/16' }] }), false],
    ['everybody', tcp({ IpRanges: [{ CidrIp: '0.0.0.0/0' }] }), true],
    ['exactly another address', tcp({ IpRanges: [{ CidrIp: '10.1.2.4/32' }] }), false],
    ['a range that cannot be read', tcp({ IpRanges: [{ CidrIp: 'somewhere' }] }), true],
    ['a prefix list, which cannot be read', tcp({ PrefixListIds: [{ PrefixListId: 'pl-1' }] }), true],
    ['UDP', { ...tcp(fromNodes), IpProtocol: 'udp' }, false],
  ])('a rule for %s', (_, rule, expected) => {
    const groups = [{ id: 'sg-cluster', rules: [rule], source: '' }];
    expect(admits(groups, 443, ['sg-node'], ['10.1.2.3'])).toBe(expected);
  });

  test('any range may hold a node whose address is not known', () => {
    const rules = [tcp({ IpRanges: [{ CidrIp: '10.2.0.0/16' }] })];
    expect(admits([{ id: 'sg-cluster', rules, source: '' }], 443, ['sg-node'])).toBe(true);
  });

  test('is looked at only where nodes use the private endpoint', () => {
    const groupsOf = (endpointPrivateAccess: boolean): string[] => {
      const aws = new AwsAnswers();
      const resourcesVpcConfig = {
        clusterSecurityGroupId: 'sg-cluster',
        securityGroupIds: ['sg-more'],
        endpointPrivateAccess,
      };
      aws.add('eks-describe-cluster', { cluster: { resourcesVpcConfig } }, '');
      return apiServerGroups(evidenceOf({ aws }));
    };
    expect(groupsOf(true)).toEqual(['sg-cluster', 'sg-more']);
    expect(groupsOf(false)).toEqual([]);
  });
});
