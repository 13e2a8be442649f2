// Rules about EC2NodeClass: selectors, role, volumes and the metadata service.
import { asList, asMap, asText, type FieldPath, type PlainMap } from '../../manifests/index.ts';
import type { Hit, Subject } from '../finding.ts';
import type { Rule, SchemaProblem } from './rule.ts';

export const spec = ({ value }: Subject): PlainMap => asMap(value['spec']);
export const isNodeClass = ({ kind }: Subject): boolean => kind === 'EC2NodeClass';
export const isAt = (problem: SchemaProblem, ...path: (string | number)[]): boolean =>
  problem.path.length === path.length && path.every((part, index) => problem.path[index] === part);

/** M02 and M03 are the same mistake on two fields. */
function oldSelector(id: string, oldName: string): Rule {
  const newName = `${oldName}Terms`;
  return {
    id,
    severity: 'error',
    strict: true,
    wrong: `\`spec.${oldName}\``,
    why: 'A field of the alpha AWSNodeTemplate; it never existed in EC2NodeClass.',
    instead: `\`${newName}: [{tags: {karpenter.sh/discovery: <cluster>}}]\` (at most 30 terms; \`id\` stands alone in its term)`,
    failure: 'crd/unknown-field',
    explain(problem, subject) {
      if (!isNodeClass(subject)) return undefined;
      const old = spec(subject)[oldName];
      const fix = `${newName}: [{tags: {${tagsText(old)}}}]`;
      if (problem.kind === 'unknown' && isAt(problem, 'spec', oldName))
        return {
          path: problem.path,
          message: `${oldName} is a field of the old AWSNodeTemplate; EC2NodeClass never had it`,
          fix,
        };
      if (problem.kind === 'required' && isAt(problem, 'spec', newName) && old !== undefined)
        return { path: problem.path, message: `${newName} is required; ${oldName} does not stand in for it`, fix };
      return undefined;
    },
  };
}

function tagsText(selector: unknown): string {
  const tags = Object.entries(asMap(selector)).map(
    ([key, value]) => `${key}: ${value === 'true' ? '<cluster name>' : JSON.stringify(value)}`,
  );
  return tags.length === 0 ? 'karpenter.sh/discovery: <cluster name>' : tags.join(', ');
}

/** Every tag a node class selects by, with its path. */
function* selectorTags(subject: Subject): Generator<{ key: string; value: unknown; path: FieldPath }> {
  const fields = spec(subject);
  for (const name of ['subnetSelector', 'securityGroupSelector']) {
    for (const [key, value] of Object.entries(asMap(fields[name]))) yield { key, value, path: ['spec', name, key] };
    for (const [index, term] of asList(fields[`${name}Terms`]).entries()) {
      for (const [key, value] of Object.entries(asMap(asMap(term)['tags'])))
        yield { key, value, path: ['spec', `${name}Terms`, index, 'tags', key] };
    }
  }
}

export const nodeClassRules: Rule[] = [
  oldSelector('M02', 'subnetSelector'),
  oldSelector('M03', 'securityGroupSelector'),
  {
    id: 'M23',
    severity: 'error',
    strict: true,
    wrong: '`volumeSize: 200Gi+`',
    why: 'A size is a whole number with Gi, G, Ti or T.',
    instead: '`volumeSize: 200Gi`',
    explain(problem, subject) {
      if (!isNodeClass(subject) || problem.path.at(-1) !== 'volumeSize') return undefined;
      if (problem.kind === 'unknown' || problem.kind === 'required') return undefined;
      const size = /^\s*(\d+)\s*([GT]i?)/.exec(String(problem.value));
      return {
        path: problem.path,
        message: `"${String(problem.value)}" is not a volume size: write a whole number with Gi, G, Ti or T`,
        fix: `volumeSize: ${size === null ? '100Gi' : `${size[1]}${size[2]}`}`,
      };
    },
  },
  {
    id: 'M24',
    severity: 'warning',
    strict: false,
    wrong: '`httpPutResponseHopLimit: 2` "to require IMDSv2 tokens"',
    why: "Tokens are required by httpTokens; a hop limit of 2 or more lets every pod reach the metadata service and take the node's credentials.",
    instead: '`httpTokens: required` and `httpPutResponseHopLimit: 1` (the defaults)',
    failure: 'iam/imds-open-to-pods',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      const options = asMap(spec(subject)['metadataOptions']);
      const hops = options['httpPutResponseHopLimit'];
      if (typeof hops === 'number' && hops >= 2)
        yield {
          path: ['spec', 'metadataOptions', 'httpPutResponseHopLimit'],
          message: `a hop limit of ${hops} lets pods reach the metadata service and take the node's credentials; it does not require tokens`,
          fix: 'httpTokens: required and httpPutResponseHopLimit: 1',
        };
      if (options['httpTokens'] === 'optional')
        yield {
          path: ['spec', 'metadataOptions', 'httpTokens'],
          message: 'optional tokens leave IMDSv1 open, which request forgery in any pod can use',
          fix: 'httpTokens: required',
        };
    },
  },
  {
    id: 'M27',
    severity: 'warning',
    strict: false,
    wrong: '`karpenter.sh/discovery: "true"`',
    why: "That value is shared by every cluster of the account, so nodes may land in another cluster's network.",
    instead: "the cluster's name as value, on the tag and in the selector",
    failure: 'net/discovery-tag-not-cluster-scoped',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      for (const { key, value, path } of selectorTags(subject)) {
        if (key !== 'karpenter.sh/discovery' || !/^(true|\*|yes|1)$/i.test(String(value))) continue;
        yield {
          path,
          message: `the value ${JSON.stringify(value)} is shared by all clusters of the account: nodes may land in another cluster's network`,
          fix: 'karpenter.sh/discovery: <cluster name>, on the tag too',
        };
      }
    },
  },
  {
    id: 'L05',
    severity: 'error',
    strict: false,
    wrong: '`role` with more than 64 characters, or an ARN',
    why: 'IAM role names have at most 64 characters, and the field takes the name.',
    instead: 'the bare name of the role',
    failure: 'iam/node-role-name-too-long',
    *check(subject): Generator<Hit> {
      const role = isNodeClass(subject) ? asText(spec(subject)['role']) : undefined;
      if (role === undefined) return;
      const isArn = role.startsWith('arn:');
      if (!isArn && role.length <= 64) return;
      yield {
        path: ['spec', 'role'],
        message: isArn
          ? 'this is the ARN of a role; the field takes its name'
          : `a role name has at most 64 characters, this has ${role.length}`,
        fix: isArn ? `role: ${role.replace(/.*\//, '')}` : 'a role with a shorter name',
      };
    },
  },
  {
    id: 'L08',
    severity: 'warning',
    strict: false,
    wrong: '`role: KarpenterNodeRole-<cluster>`',
    why: 'It is a placeholder of a guide: no role, profile or tag has that name.',
    instead: 'the name itself',
    failure: 'crd/ami-selector-required',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      for (const field of ['role', 'instanceProfile'] as const) {
        const placeholder = placeholderIn(spec(subject)[field]);
        if (placeholder === undefined) continue;
        yield {
          path: ['spec', field],
          message: `${placeholder} is a placeholder: write the name itself`,
          fix: `${field}: the name in your account`,
        };
      }
      for (const field of ['subnetSelectorTerms', 'securityGroupSelectorTerms', 'amiSelectorTerms']) {
        for (const [index, term] of asList(spec(subject)[field]).map(asMap).entries()) {
          for (const [tag, value] of Object.entries(asMap(term['tags']))) {
            const placeholder = placeholderIn(value);
            if (placeholder === undefined) continue;
            yield {
              path: ['spec', field, index, 'tags', tag],
              message: `${placeholder} is a placeholder: nothing has that tag`,
              fix: 'the value in your account',
            };
          }
        }
      }
    },
  },
];

/** As guides and templates write them: `<cluster>`, `${CLUSTER_NAME}`. */
function placeholderIn(value: unknown): string | undefined {
  return /<[^<>]+>|\$\{[^}]*\}/.exec(asText(value) ?? '')?.[0];
}
