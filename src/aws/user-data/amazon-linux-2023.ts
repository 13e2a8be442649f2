// Amazon Linux 2023: nodeadm reads NodeConfig documents and lays them over each other in order. Ours comes last, so what
// the cluster depends on cannot be undone by the user's.
import { isMap, parseDocument, stringify } from 'yaml';
import { yamlTooDeepAt } from '../../base/index.ts';
import { CloudError } from '../../ports/index.ts';
import { gracePeriods, sorted, type UserDataInput } from './input.ts';
import { labelsFlag } from './kubelet-flags.ts';
import { looksLikeMime, type MimePart, partOf, plainBody, readMime, shellScript, writeMime } from './mime.ts';

const nodeConfigType = 'application/node.eks.aws';

export function amazonLinux2023(input: UserDataInput): string {
  return writeMime([...customParts(input.custom), partOf(nodeConfigType, nodeConfig(input))]);
}

function customParts(custom: string): MimePart[] {
  if (custom === '') return [];
  if (looksLikeMime(custom)) {
    return readMime(custom).map((part) => partOf(part.headers['Content-Type'] ?? 'text/plain', plainBody(part)));
  }
  return [partOf(isYamlMapping(custom) ? nodeConfigType : shellScript, custom)];
}

function isYamlMapping(text: string): boolean {
  // A script can happen to be YAML too: `echo a: b` is a mapping.
  if (text.trimStart().startsWith('#!') || yamlTooDeepAt(text) !== undefined) return false;
  // A key that is there twice is a mistake in a NodeConfig, which nodeadm will name; it makes no script of it.
  const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: false });
  return document.errors.length === 0 && isMap(document.contents);
}

function nodeConfig(input: UserDataInput): string {
  const { cluster, raid0 } = input;
  if (cluster.serviceCidr === undefined)
    throw new CloudError('nodeClassNotReady', 'the cluster CIDR, which AL2023 needs, has not been resolved');
  const flag = labelsFlag(input.labels);
  const config = {
    apiVersion: 'node.eks.aws/v1alpha1',
    kind: 'NodeConfig',
    metadata: {},
    spec: {
      cluster: {
        apiServerEndpoint: cluster.endpoint,
        ...(cluster.caBundle ? { certificateAuthority: cluster.caBundle } : {}),
        cidr: cluster.serviceCidr,
        name: cluster.name,
      },
      containerd: {},
      instance: { localStorage: raid0 ? { strategy: 'RAID0' } : {} },
      kubelet: { config: kubeletConfig(input), ...(flag === undefined ? {} : { flags: [flag] }) },
    },
  };
  const yaml = stringify(config, { sortMapEntries: true, lineWidth: 0, indentSeq: false });
  return `# Karpenter Generated NodeConfig\n${yaml}`;
}

/** The settings under the names they have in the class, which are the kubelet's own; empty ones left out. */
function kubeletConfig({ kubelet, taints }: UserDataInput): Record<string, unknown> {
  const settings = { ...kubelet, evictionSoftGracePeriod: gracePeriods(kubelet) };
  const isSet = (value: unknown): boolean =>
    value !== undefined && (typeof value !== 'object' || value === null || Object.keys(value).length > 0);
  return {
    ...Object.fromEntries(sorted<unknown>(settings).filter(([, value]) => isSet(value))),
    registerWithTaints: taints.map(({ key, value, effect }) => ({ effect, key, ...(value ? { value } : {}) })),
  };
}
