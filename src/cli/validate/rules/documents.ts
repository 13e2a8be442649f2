// Rules about text: what does not parse, and what documents say in prose, comments or other languages. A sentence is not
// a manifest, so those findings are notes; they tell a reader not to copy it.
import { isMap } from '../../manifests/index.ts';
import { type Hit, type Subject, sourceOf } from '../finding.ts';
import type { Rule } from './rule.ts';

/** A mistake recognised in the text of a document. */
export interface TextRule {
  id: string;
  pattern: RegExp;
  /** `comment`: in comments of code samples; `prose`: everywhere outside manifests. */
  where: 'comment' | 'prose';
  message: string;
  fix: string;
}

export const documentRules: Rule[] = [
  {
    id: 'M29',
    severity: 'error',
    strict: true,
    wrong: 'a key without its colon: `template` above indented lines',
    why: 'It is not YAML of the intended shape; nothing below it is read.',
    instead: '`template:`',
  },
  {
    id: 'M36',
    severity: 'info',
    strict: false,
    wrong: 'Node Termination Handler value `enableRebalanceDrainin`',
    why: 'Misspelt; the chart ignores it.',
    instead: '`enableRebalanceDraining`',
    failure: 'interruption/nth-relaunch-loop',
  },
  {
    id: 'L03',
    severity: 'error',
    strict: true,
    wrong: '`yes`, `no`, `on` or `off` without quotes where a text is meant',
    why: 'kubectl reads YAML 1.1, where these words are true and false; the API server then finds a boolean in place of a text.',
    instead: '`"yes"`, in quotes',
    *check(subject): Generator<Hit> {
      if (subject.manifest.format === 'yaml' && switchWord.test(subject.manifest.text))
        yield* switches(subject, subject.value, []);
    },
  },
];

const switchWord = /[:,[-]\s+(yes|no|on|off)\s*([,\]}#]|$)/im;

/** Every text that is one of the words, where the source has it without quotes. */
function* switches(subject: Subject, value: unknown, path: (string | number)[]): Generator<Hit> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* switches(subject, item, [...path, index]);
  } else if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) yield* switches(subject, item, [...path, key]);
  } else if (typeof value === 'string' && /^(yes|no|on|off)$/i.test(value)) {
    const source = sourceOf(subject, path);
    if (new RegExp(`["']${value}["']`).test(source) || !new RegExp(`\\b${value}\\b`).test(source)) return;
    yield { path, message: `kubectl reads ${value} without quotes as ${/^(yes|on)$/i.test(value)}`, fix: `"${value}"` };
  }
}

export const textRules: TextRule[] = [
  {
    id: 'M02',
    where: 'prose',
    pattern: /\bsubnetSelector\b/,
    message: 'subnetSelector is a field of the old AWSNodeTemplate',
    fix: 'subnetSelectorTerms',
  },
  {
    id: 'M05',
    where: 'comment',
    pattern: /#\s*-\s*(UBUNTU|WINDOWS|BOTTLEROCKET)\b/,
    message: 'not an AMI family: the names are case-sensitive and Ubuntu was removed in 1.0',
    fix: 'AL2023, Bottlerocket, Windows2019, Windows2022, Windows2025, AL2 or Custom',
  },
  {
    id: 'M21',
    where: 'comment',
    pattern: /weight:\s*\d+\s*\((spot|on-demand)\)|\d+\s?% (spot|on-demand)/,
    message: 'there are no weights or ratios between capacity types; with both allowed, spot is simply preferred',
    fix: 'two NodePools with different spec.weight',
  },
  {
    id: 'M25',
    where: 'prose',
    pattern: /karpenter\.sh\/do-not-evict/,
    message: 'karpenter.sh/do-not-evict was a pod annotation, removed in 1.0; it never was a tag',
    fix: 'karpenter.sh/do-not-disrupt on pods or nodes',
  },
  {
    id: 'M27',
    where: 'prose',
    pattern: /"karpenter\.sh\/discovery"\s*=\s*"true"/,
    message: 'the tag value "true" is shared by all clusters of the account',
    fix: 'the cluster name as value',
  },
  {
    id: 'M32',
    where: 'prose',
    pattern: /"node-role\.kubernetes\.io\/[\w-]+"\s*=/,
    message: 'EKS refuses node-group labels with a reserved prefix',
    fix: 'a label of your own, such as role = "system"',
  },
  {
    id: 'M34',
    where: 'prose',
    pattern: /\bkubeletConfiguration\b/,
    message: 'kubeletConfiguration is spec.kubelet of the EC2NodeClass in v1',
    fix: 'EC2NodeClass.spec.kubelet',
  },
  {
    id: 'M36',
    where: 'prose',
    pattern: /\benableRebalanceDrainin\b/,
    message: 'enableRebalanceDrainin is misspelt',
    fix: 'enableRebalanceDraining',
  },
];
