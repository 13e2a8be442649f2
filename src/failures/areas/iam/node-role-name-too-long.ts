// Names of roles end at 64 characters.
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

const longest = 64;

export const nodeRoleNameTooLong: Failure = {
  id: 'iam/node-role-name-too-long',
  severity: 'medium',
  symptom: 'Creating KarpenterNodeRole-<cluster> fails for a long, generated cluster name.',
  cause: "The suggested prefix and a long cluster name pass IAM's limit of 64 characters",
  fix: 'Any shorter role name; write it into `EC2NodeClass.spec.role`.',
  needs: [anyOf(kinds('EC2NodeClass'), texts('cli'))],
  signs: [
    {
      words: ['less than or equal to 64', 'exceed 64', '(1 - 64)', '64 characters', 'maximum length of 64'],
      pattern:
        /(?:Value ['"](?<role>[\w+=,.@-]+)['"] at )?['"]?roleName['"]? failed to satisfy constraint: Member must have length less than or equal to 64|expected length of (?:name|role_name|name_prefix) to be in the range \(1 - 64\)|role ?name.{0,80}(?:exceed|longer than|more than|maximum|at most|must be).{0,30}64 (?:characters|chars)|(?<role2>KarpenterNodeRole-[\w-]{47,})/i,
      // Roles of other things are named too long as well.
      unless:
        /Value ['"](?![^'"]*(?:karpenter|kerf|node|eks|cluster))[\w+=,.@-]+['"] at|got (?!\S*(?:karpenter|kerf|node))\S*(?:load-?balancer|external-?dns|csi)/i,
    },
    // Terraform adds 26 characters of its own to a prefix.
    {
      words: ['cannot be longer than 38 characters', 'cannot be longer than 64 characters', '(1 - 38)'],
      pattern:
        /"?(?:name_prefix|name|iam_role_name)"?(?: \("?(?<role>[\w+=,.@-]+)"?\))? (?:cannot be longer than|to be in the range \(1 -) (?:38|64)\)?(?: characters)?.{0,120}karpenter|karpenter.{0,200}cannot be longer than (?:38|64) characters/i,
    },
  ],
  fromText(sightings) {
    const role = caught(sightings, 'role') ?? caught(sightings, 'role2');
    return [
      foundIn(sightings, {
        summary: `The name of the role${role === undefined ? '' : ` ${role} (${role.length} characters)`} passes IAM's limit of ${longest}.`,
        fix: [
          `Create the role with a shorter name, for instance ${shorter(role ?? 'KarpenterNodeRole')}, and write it into spec.role of the EC2NodeClass and into the access entry.`,
        ],
      }),
    ];
  },
  check({ objects }): Found[] {
    const classes = objects.of('EC2NodeClass').filter(({ object }) => textAt(object, 'spec', 'role').length > longest);
    if (classes.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `spec.role of ${classes.map(({ name }) => name).join(', ')} has more than ${longest} characters, which no role can have.`,
        objects: refsOf(classes),
        evidence: classes.map((one) => fieldItem(one, 'spec.role', textAt(one.object, 'spec', 'role'))),
        fix: classes.map(
          ({ name, object }) =>
            `kubectl patch ec2nodeclass ${name} --type=merge -p '{"spec":{"role":"${shorter(textAt(object, 'spec', 'role'))}"}}'  # after creating that role`,
        ),
      },
    ];
  },
};

const shorter = (role: string): string => role.slice(0, 48).replace(/[^A-Za-z0-9]+$/, '');
