// Windows: PowerShell that calls the image's bootstrap script, after what the user wrote.
import type { UserDataInput } from './input.ts';
import { kubeletFlags } from './kubelet-flags.ts';

/** One word of PowerShell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export function windows(input: UserDataInput): string {
  const { cluster, custom, kubelet } = input;
  const dns = kubelet.clusterDNS?.[0];
  const invocation = [
    '& $EKSBootstrapScriptFile',
    `-EKSClusterName ${quoted(cluster.name)}`,
    `-APIServerEndpoint ${quoted(cluster.endpoint)}`,
    ...(cluster.caBundle ? [`-Base64ClusterCA ${quoted(cluster.caBundle)}`] : []),
    `-KubeletExtraArgs ${quoted(kubeletFlags(input))}`,
    ...(dns === undefined ? [] : [`-DNSClusterIP ${quoted(dns)}`]),
  ];
  return [
    '<powershell>',
    ...(custom === '' ? [] : [custom]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    invocation.join(' '),
    '</powershell>',
  ].join('\n');
}
