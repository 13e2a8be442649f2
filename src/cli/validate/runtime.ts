// What the API server accepts and the controller then refuses (condition ValidationSucceeded=False): labels of reserved
// domains, values no label can have, taints given twice. Only objects that pass their schema are looked at here.
import {
  awsGroup,
  awsLabels,
  kwokGroup,
  kwokLabels,
  type LabelPolicy,
  labelPolicy,
  type NodeOverlay,
  type NodePoolSpec,
  nodeOverlayProblems,
  nodePoolProblems,
} from '../../api/index.ts';
import { asList, asMap, asText, type FieldPath, valueAt } from '../manifests/index.ts';
import type { Hit, Subject } from './finding.ts';
import { labelSuggestion } from './suggest.ts';

export function* runtimeProblems(subject: Subject): Generator<Hit> {
  if (subject.kind === 'NodePool') yield* poolProblems(subject);
  else if (subject.kind === 'NodeOverlay') yield* overlayProblems(subject);
}

const policies: Readonly<Record<string, LabelPolicy>> = {
  [awsGroup]: labelPolicy(awsLabels),
  [kwokGroup]: labelPolicy(kwokLabels),
};
const everyProvider = labelPolicy(awsLabels, kwokLabels);

/** The labels of the provider whose node class a pool names; of all providers when that does not tell. */
const policyFor = (group: unknown): LabelPolicy => policies[asText(group) ?? ''] ?? everyProvider;

function* poolProblems({ value }: Subject): Generator<Hit> {
  const template = asMap(valueAt(value, ['spec', 'template']));
  const node = asMap(template['spec']);
  const policy = policyFor(asMap(node['nodeClassRef'])['group']);
  // Asked one by one, so that each answer has its place.
  const ask = (part: { labels?: unknown; spec?: object }): string[] =>
    nodePoolProblems(
      {
        template: { metadata: { labels: part.labels ?? {} }, spec: { requirements: [], ...part.spec } },
      } as unknown as NodePoolSpec,
      policy,
    );
  for (const [key, text] of Object.entries(asMap(asMap(template['metadata'])['labels'])))
    yield* hits(ask({ labels: { [key]: text } }), ['spec', 'template', 'metadata', 'labels', key], key);
  const { taints, startupTaints } = node;
  yield* hits(
    ask({ spec: { taints, startupTaints } }),
    ['spec', 'template', 'spec', taints === undefined ? 'startupTaints' : 'taints'],
    '',
  );
  for (const [index, requirement] of asList(node['requirements']).entries()) {
    const key = asText(asMap(requirement)['key']) ?? '';
    yield* hits(
      ask({ spec: { requirements: [requirement] } }),
      ['spec', 'template', 'spec', 'requirements', index, 'key'],
      key,
    );
  }
}

function* overlayProblems({ value }: Subject): Generator<Hit> {
  for (const [index, requirement] of asList(valueAt(value, ['spec', 'requirements'])).entries()) {
    const problems = nodeOverlayProblems({ requirements: [requirement] } as NodeOverlay['spec'], everyProvider);
    yield* hits(problems, ['spec', 'requirements', index, 'key'], asText(asMap(requirement)['key']) ?? '');
  }
}

function* hits(problems: readonly string[], path: FieldPath, key: string): Generator<Hit> {
  for (const problem of problems) {
    const isRestricted = problem.includes('is not allowed as it might interfere');
    if (isRestricted)
      yield {
        path,
        message: `the API server accepts ${key}, but the controller refuses it: its domain is reserved and it is not one of the known labels`,
        fix: labelSuggestion(key),
      };
    else yield { path, message: `the API server accepts this, but the controller refuses it: ${problem}` };
  }
}
