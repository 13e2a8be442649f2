// Labels of the beta days come only from a running kubelet, and one day not at all.
import type { Failure, Found } from '../../failure.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

const legacy = /^beta\.kubernetes\.io\/(os|arch|instance-type)$/;

export const daemonsetSelectsLegacyLabel: Failure = {
  id: 'init/daemonset-selects-legacy-label',
  severity: 'medium',
  symptom:
    'kube-proxy is not scheduled because its affinity needs `beta.kubernetes.io/os` and `beta.kubernetes.io/arch`.',
  cause: 'A system DaemonSet selects nodes by deprecated labels, which only a running kubelet sets',
  fix: 'Use `kubernetes.io/os` and `kubernetes.io/arch`; update the add-on.',
  needs: [anyOf(kinds('DaemonSet'), texts('cli'))],
  signs: [
    {
      words: ['beta.kubernetes.io/os', 'beta.kubernetes.io/arch'],
      pattern: /(?:key["']?: ?["']?|nodeSelector["']?: ?\{?["']?)beta\.kubernetes\.io\/(?:os|arch)["']?/i,
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'A DaemonSet selects nodes by the deprecated labels beta.kubernetes.io/os or arch.',
      fix: [
        'Write kubernetes.io/os and kubernetes.io/arch instead; for kube-proxy of EKS: aws eks update-addon --cluster-name "$CLUSTER_NAME" --addon-name kube-proxy',
      ],
    }),
  ],
  check({ objects }): Found[] {
    const daemons = objects.of('DaemonSet').filter((one) => one.namespace === 'kube-system' && keysOf(one).length > 0);
    if (daemons.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${daemons.map(({ name }) => name).join(', ')} selects nodes by deprecated labels (${[...new Set(daemons.flatMap(keysOf))].join(', ')}).`,
        objects: refsOf(daemons),
        evidence: daemons.map((daemon) => fieldItem(daemon, 'node affinity', keysOf(daemon).join(', '))),
        fix: daemons.map(
          ({ name }) =>
            `kubectl -n kube-system get daemonset ${name} -o yaml | sed 's#beta.kubernetes.io/#kubernetes.io/#' | kubectl apply -f -  # or update the add-on`,
        ),
      },
    ];
  },
  explainsInText: ['init/core-daemonsets-absent'],
};

function keysOf({ object }: Stored): string[] {
  const spec = mapAt(object, 'spec', 'template', 'spec');
  const terms = listAt(
    spec,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  );
  const keys = terms.flatMap((term) => listAt(term, 'matchExpressions').map((one) => textAt(one, 'key')));
  return [...keys, ...Object.keys(mapAt(spec, 'nodeSelector'))].filter((key) => legacy.test(key));
}
