// A pool is only as ready as its node class; the class says why.
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { type Condition, conditionOf, conditionsOf, refOf, type Stored } from '../../objects.ts';
import { nodeClassNameOf } from '../../relations.ts';

export const nodepoolNotReadyBecauseNodeclass: Failure = {
  id: 'crd/nodepool-not-ready-because-nodeclass',
  severity: 'high',
  symptom: 'The pool shows Ready=False and no NodeClaims are made.',
  cause: 'The node class that the pool names does not exist, or one of its lookups failed',
  fix: 'Read the false condition of the node class and fix that; create the node class if there is none.',
  needs: [kinds('NodePool', 'EC2NodeClass')],
  signs: [
    {
      words: [
        'nodeclassready',
        'nodeclassnot',
        'nodepool, not ready',
        'nodepool not ready',
        'nodepool is not ready',
        'resolving nodeclass',
        'resolving node class',
        'getting nodeclass',
        'resolving ec2nodeclass',
        'getting ec2nodeclass',
        'fetching ec2nodeclass',
      ],
      pattern:
        /NodeClassReady["']?[:=, ]{1,3}(?:.{0,40}status["']?: ?["']?)?False|reason["']?[:=] ?["']?NodeClassNot(?:Found|Ready)|\bNodeClassNotFound\b|(?:ignoring|skipping) nodepool,? not ready|nodepool (?:is )?not ready.{0,80}(?:nodeclass|NodeClass)|(?:resolving|getting|fetching) (?:the )?(?:ec2)?node ?class(?:es)?\b.{0,120}(?:not found|awaiting reconciliation)/i,
      unless: /NodeClassReady=True/,
      where: ['log', 'cli', 'asked'],
      until: ['launched'],
    },
    // The node class itself, where a lookup of it failed and no other entry says why.
    {
      words: ['instanceprofilenotfound', 'unhealthydependents', 'isready=false', 'sready=false', 'profileready=false'],
      pattern:
        /\bInstanceProfileNotFound\b|\b(?:AMIsReady|SubnetsReady|SecurityGroupsReady|InstanceProfileReady)=False\b/,
      where: ['cli', 'asked'],
      confidence: 'likely',
      until: ['launched'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'A NodePool is not ready because of its node class: the class does not exist or one of its lookups failed.',
      fix: [
        'kubectl get ec2nodeclass -o yaml  # read status.conditions of the class that spec.template.spec.nodeClassRef names, and fix the one that is False',
      ],
    }),
  ],
  check({ objects }): Found[] {
    if (!objects.isCollected('NodePool')) return [];
    return objects.of('NodePool').flatMap((pool): Found[] => {
      const ready = conditionOf(pool.object, 'NodeClassReady');
      const name = nodeClassNameOf(pool);
      const nodeClass = objects.find('EC2NodeClass', name);
      const isAbsent = name !== '' && isAws(pool) && objects.isCollected('EC2NodeClass') && nodeClass === undefined;
      if (ready?.status !== 'False' && !isAbsent) return [];
      const failed =
        nodeClass === undefined
          ? []
          : conditionsOf(nodeClass.object).filter(({ type, status }) => status === 'False' && type !== 'Ready');
      return [
        {
          confidence: 'certain',
          summary: isAbsent
            ? `NodePool ${pool.name} names the EC2NodeClass ${name}, which does not exist.`
            : `NodePool ${pool.name} is not ready because of its EC2NodeClass ${name}${failed.length > 0 ? `: ${failed.map(({ type, message }) => `${type} is False (${message})`).join(', ')}` : ''}.`,
          objects: [refOf(pool), ...(nodeClass === undefined ? [] : [refOf(nodeClass)])],
          evidence: [
            ...(ready === undefined ? [] : [conditionItem(pool, ready)]),
            ...(nodeClass === undefined ? [] : failed.map((one: Condition) => conditionItem(nodeClass, one))),
          ],
          fix: isAbsent
            ? absentFix(pool.name, name, objects.of('EC2NodeClass'))
            : [`kubectl describe ec2nodeclass ${name}  # fix what its false condition names`],
          key: pool.name,
        },
      ];
    });
  },
  explains: ['scheduling/no-usable-nodepool'],
};

const isAws = (pool: Stored): boolean =>
  ['', 'EC2NodeClass'].includes(textAt(pool.object, 'spec', 'template', 'spec', 'nodeClassRef', 'kind'));

function absentFix(pool: string, name: string, there: readonly Stored[]): string[] {
  const [only] = there;
  if (only === undefined) return [`Create the EC2NodeClass ${name}: kubectl apply -f ec2nodeclass-${name}.yaml`];
  return [
    `kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"template":{"spec":{"nodeClassRef":{"name":"${only.name}"}}}}}'  # or create the EC2NodeClass ${name}`,
  ];
}
