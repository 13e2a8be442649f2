// Rules about objects around the autoscaler: pods, PodDisruptionBudgets, nodes and the aws-auth ConfigMap.
import { parse } from 'yaml';
import { annotation, label } from '../../../api/names.ts';
import { messageOf } from '../../../base/index.ts';
import { asList, asMap, asText, type FieldPath, isMap, type PlainMap, valueAt } from '../../manifests/index.ts';
import type { Hit, Subject } from '../finding.ts';
import { nodeAffinityExpressions, podTemplate, type Seen, type Workload } from '../seen.ts';
import type { Rule } from './rule.ts';

const oldAnnotation = /^karpenter\.sh\/do-not-(evict|consolidate)$/;

/** Every map of a manifest where an annotation, label or tag may stand. */
function* markedMaps(subject: Subject): Generator<{ map: PlainMap; path: FieldPath }> {
  const places: FieldPath[] = [
    ['metadata', 'annotations'],
    ['metadata', 'labels'],
    ['spec', 'tags'],
    ['spec', 'subnetSelector'],
  ];
  const template = podTemplate(subject)?.path ?? [];
  if (template.length > 0) places.push([...template, 'metadata', 'annotations']);
  if (subject.kind === 'NodePool') places.push(['spec', 'template', 'metadata', 'annotations']);
  for (const path of places) yield { map: asMap(valueAt(subject.value, path)), path };
  for (const [index, term] of asList(valueAt(subject.value, ['spec', 'subnetSelectorTerms'])).entries())
    yield { map: asMap(asMap(term)['tags']), path: ['spec', 'subnetSelectorTerms', index, 'tags'] };
}

export const workloadRules: Rule[] = [
  {
    id: 'M25',
    severity: 'warning',
    strict: false,
    wrong: '`karpenter.sh/do-not-evict` (also as a subnet tag)',
    why: 'A pod annotation that was removed in 1.0 and never was a subnet tag; it does nothing.',
    instead: '`karpenter.sh/do-not-disrupt` on pods or nodes',
    *check(subject): Generator<Hit> {
      for (const { map, path } of markedMaps(subject)) {
        for (const key of Object.keys(map).filter((name) => oldAnnotation.test(name)))
          yield {
            path: [...path, key],
            message: `${key} was removed in 1.0 and does nothing`,
            fix: `${annotation.doNotDisrupt}: "true" on pods or nodes`,
          };
      }
    },
  },
  {
    id: 'M26',
    severity: 'warning',
    strict: false,
    wrong: 'pod affinity `karpenter.sh/capacity-type In [on-demand, spot]` to mean "autoscaled nodes"',
    why: 'It leaves out reserved capacity.',
    instead: '`karpenter.sh/nodepool Exists`',
    failure: 'startup/user-pod-on-system-node',
    *check(subject): Generator<Hit> {
      const pod = podTemplate(subject);
      if (pod === undefined) return;
      for (const { expression, path } of nodeAffinityExpressions(pod)) {
        const values = new Set(asList(expression['values']));
        const isBoth = values.size === 2 && values.has('spot') && values.has('on-demand');
        if (expression['key'] !== label.capacityType || expression['operator'] !== 'In' || !isBoth) continue;
        yield {
          path: [...path, 'values'],
          message: 'spot and on-demand together still leave out reserved capacity',
          fix: `{key: ${label.nodePool}, operator: Exists} selects every autoscaled node`,
        };
      }
    },
  },
  {
    id: 'M31',
    severity: 'warning',
    strict: false,
    wrong: 'PodDisruptionBudget `minAvailable: 1` over one replica',
    why: 'A budget starts no replacement: with one replica it blocks every drain for ever.',
    instead: 'two replicas or more, or `maxUnavailable: 1`',
    failure: 'disruption/pdb-blocks',
    conclude: blockingBudgets,
  },
  {
    id: 'M32',
    severity: 'error',
    strict: true,
    wrong: 'label `node-role.kubernetes.io/…` on a Node manifest or a node group',
    why: 'A kubelet may not set labels of the kubernetes.io and k8s.io domains, and EKS refuses them on node groups.',
    instead: 'a label of your own, such as `role: system`',
    *check(subject): Generator<Hit> {
      for (const { labels, path, reserved } of ownedNodeLabels(subject)) {
        for (const key of Object.keys(labels).filter((name) => reserved.test(name)))
          yield {
            path: [...path, key],
            message: `${key} uses a reserved prefix: a kubelet may not set it, and EKS refuses it on a node group`,
            fix: 'a label of your own, such as role: system',
          };
      }
    },
  },
  {
    id: 'M35',
    severity: 'error',
    strict: true,
    wrong: 'aws-auth with `mapRoles` beside `data`, or unevenly indented',
    why: 'The mappings must be text under `data`; elsewhere they are ignored or refused, and nodes cannot join.',
    instead: '`data:` with `mapRoles: |` indented below it',
    failure: 'registration/node-role-not-mapped',
    *check(subject): Generator<Hit> {
      if (subject.kind !== 'ConfigMap') return;
      for (const key of ['mapRoles', 'mapUsers', 'mapAccounts']) {
        if (subject.value[key] !== undefined)
          yield {
            path: [key],
            message: `${key} stands beside data, where nothing reads it`,
            fix: `indent ${key} under data:`,
          };
        const text = asText(asMap(subject.value['data'])[key]);
        const broken = text === undefined ? undefined : mappingProblem(text);
        if (broken !== undefined)
          yield { path: ['data', key], message: broken, fix: 'a YAML list, each item indented alike' };
      }
    },
  },
];

function mappingProblem(text: string): string | undefined {
  try {
    const list: unknown = parse(text, { logLevel: 'error' });
    return list === null || Array.isArray(list) ? undefined : 'the mappings are not a list';
  } catch (thrown) {
    return `the mappings are not YAML: ${messageOf(thrown).split('\n')[0]}`;
  }
}

function* ownedNodeLabels(subject: Subject): Generator<{ labels: PlainMap; path: FieldPath; reserved: RegExp }> {
  const { kind, value } = subject;
  if (kind === 'Node')
    yield {
      labels: asMap(asMap(value['metadata'])['labels']),
      path: ['metadata', 'labels'],
      reserved: /^node-role\.kubernetes\.io\//,
    };
  if (kind !== 'ClusterConfig') return;
  for (const list of ['managedNodeGroups', 'nodeGroups']) {
    for (const [index, groupOfNodes] of asList(value[list]).entries())
      yield {
        labels: asMap(asMap(groupOfNodes)['labels']),
        path: [list, index, 'labels'],
        reserved: /^([\w.-]+\.)?(kubernetes\.io|k8s\.io|eks\.amazonaws\.com)\//,
      };
  }
}

function* blockingBudgets(seen: Seen): Generator<{ subject: Subject; hit: Hit }> {
  for (const subject of seen.disruptionBudgets) {
    const { minAvailable, maxUnavailable } = asMap(subject.value['spec']);
    const never = minAvailable === '100%' || maxUnavailable === 0 || maxUnavailable === '0' || maxUnavailable === '0%';
    const one = minAvailable === 1 || minAvailable === '1';
    if (!never && !(one && !hasReplicas(subject, seen.workloads))) continue;
    yield {
      subject,
      hit: {
        path: ['spec', maxUnavailable === undefined ? 'minAvailable' : 'maxUnavailable'],
        message: never
          ? 'this budget never allows an eviction, so its nodes can never be drained'
          : 'with one replica this blocks every drain for ever: a budget starts no replacement',
        fix: never ? 'maxUnavailable: 1' : 'two replicas or more, or maxUnavailable: 1',
      },
    };
  }
}

/** Some workload in the same input matches the budget's selector and has two replicas or more. */
function hasReplicas(subject: Subject, workloads: readonly Workload[]): boolean {
  const selector = valueAt(subject.value, ['spec', 'selector', 'matchLabels']);
  if (!isMap(selector)) return false;
  const namespace = asText(valueAt(subject.value, ['metadata', 'namespace'])) ?? '';
  return workloads.some(
    (workload) =>
      workload.replicas >= 2 &&
      workload.namespace === namespace &&
      Object.entries(selector).every(([key, value]) => workload.labels[key] === value),
  );
}
