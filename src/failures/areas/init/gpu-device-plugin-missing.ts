// A node with devices that nothing advertises.
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { allCaught, conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';
import { claimsWaitingFor } from './unregistered-resource.ts';

const device = /^(nvidia\.com\/|amd\.com\/gpu|aws\.amazon\.com\/neuron|habana\.ai\/|vpc\.amazonaws\.com\/efa)/;

export const gpuDevicePluginMissing: Failure = {
  id: 'init/gpu-device-plugin-missing',
  severity: 'high',
  symptom: 'A GPU node never initialises; `nvidia.com/gpu` stays 0.',
  cause: 'Nothing on the node advertises the device: there is no device plugin for it',
  fix: 'Install the device plugin, or use an image that has it.',
  needs: [kinds('NodeClaim', 'DaemonSet')],
  signs: [
    {
      words: ['was requested but not registered', "didn't register on the node", 'resourcenotregistered'],
      pattern:
        /Resource "(?<resource>(?:nvidia\.com|amd\.com|habana\.ai|aws\.amazon\.com\/neuron)[^"]*)" was requested but not registered|Expected resource "(?<resource2>(?:nvidia\.com|amd\.com|habana\.ai|aws\.amazon\.com\/neuron)[^"]*)" didn't register on the node/i,
      where: ['log', 'cli', 'asked'],
      until: ['nodeReady'],
    },
  ],
  fromText(sightings) {
    const resources = [...allCaught(sightings, 'resource'), ...allCaught(sightings, 'resource2')];
    return [
      foundIn(sightings, {
        summary: `The node waits for ${[...new Set(resources)].join(', ')}, which nothing on it advertises.`,
        fix: fixFor(resources[0] ?? 'nvidia.com/gpu'),
      }),
    ];
  },
  check(evidence): Found[] {
    const waiting = claimsWaitingFor(device, evidence);
    if (waiting.length === 0) return [];
    const [first] = waiting;
    const plugin = evidence.objects
      .of('DaemonSet')
      .filter(({ name, object }) =>
        /device-plugin|gpu-operator|neuron/.test(
          `${name} ${textAt(object, 'metadata', 'labels', 'app.kubernetes.io/name')}`,
        ),
      );
    return [
      {
        confidence: evidence.objects.isCollected('DaemonSet') && plugin.length === 0 ? 'certain' : 'likely',
        summary: `${waiting.map(({ claim }) => claim.name).join(', ')}: the node waits for ${first?.resource}, ${plugin.length === 0 ? 'and no device plugin is installed' : `and ${plugin[0]?.name} does not advertise it there`}.`,
        objects: refsOf(waiting.map(({ claim }) => claim)),
        evidence: waiting.flatMap(({ claim }) => {
          const initialized = conditionOf(claim.object, 'Initialized');
          return initialized === undefined ? [] : [conditionItem(claim, initialized)];
        }),
        fix:
          plugin.length === 0
            ? fixFor(first?.resource ?? '')
            : [
                `Check that DaemonSet ${plugin[0]?.namespace}/${plugin[0]?.name} tolerates the taints of these nodes and selects them: kubectl -n ${plugin[0]?.namespace} describe daemonset ${plugin[0]?.name}`,
              ],
      },
    ];
  },
  explains: ['init/never-initialised-never-removed'],
};

const fixFor = (resource: string): string[] =>
  resource.startsWith('aws.amazon.com')
    ? ['helm upgrade --install neuron-helm-chart oci://public.ecr.aws/neuron/neuron-helm-chart --namespace kube-system']
    : [
        'helm upgrade --install nvidia-device-plugin nvidia-device-plugin --repo https://nvidia.github.io/k8s-device-plugin --namespace kube-system',
        'Or an image that advertises the device itself: amiSelectorTerms: [{alias: bottlerocket@latest}]',
      ];
