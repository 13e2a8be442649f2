// Amazon Linux 2: the user's scripts, then one that calls the image's bootstrap.sh.
import { isIpv6Cluster, type UserDataInput } from './input.ts';
import { kubeletFlags } from './kubelet-flags.ts';
import { looksLikeMime, type MimePart, partOf, readMime, shellScript, writeMime } from './mime.ts';

export function amazonLinux2(input: UserDataInput): string {
  return writeMime([...customParts(input.custom), partOf(shellScript, bootstrapScript(input))]);
}

function customParts(custom: string): MimePart[] {
  if (custom === '') return [];
  return looksLikeMime(custom) ? readMime(custom) : [partOf(shellScript, custom)];
}

/** One word of a shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function bootstrapScript(input: UserDataInput): string {
  const { cluster, kubelet, raid0 } = input;
  const dns = kubelet.clusterDNS?.[0];
  const lines = [
    [
      `/etc/eks/bootstrap.sh ${quoted(cluster.name)} --apiserver-endpoint ${quoted(cluster.endpoint)}`,
      ...(cluster.caBundle ? [`--b64-cluster-ca ${quoted(cluster.caBundle)}`] : []),
    ].join(' '),
    ...(isIpv6Cluster(input) ? ['--ip-family ipv6'] : []),
    ...(dns === undefined ? [] : [`--dns-cluster-ip ${quoted(dns)}`]),
    '--use-max-pods false',
    `--kubelet-extra-args ${quoted(kubeletFlags(input))}`,
    ...(raid0 ? ['--local-disks raid0'] : []),
  ];
  return [
    '#!/bin/bash -xe',
    'exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1',
    lines.join(' \\\n'),
  ].join('\n');
}
