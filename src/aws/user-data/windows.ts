// Windows: PowerShell that calls the image's bootstrap script, after what the user wrote.
import type { UserDataInput } from './input.ts';
import { kubeletFlags } from './kubelet-flags.ts';

export function windows(input: UserDataInput): string {
  const { cluster, custom, kubelet } = input;
  const dns = kubelet.clusterDNS?.[0];
  const invocation = [
    '& $EKSBootstrapScriptFile',
    `-EKSClusterName '${cluster.name}'`,
    `-APIServerEndpoint '${cluster.endpoint}'`,
    ...(cluster.caBundle ? [`-Base64ClusterCA '${cluster.caBundle}'`] : []),
    `-KubeletExtraArgs '${kubeletFlags(input)}'`,
    ...(dns === undefined ? [] : [`-DNSClusterIP '${dns}'`]),
  ];
  return [
    '<powershell>',
    ...(custom === '' ? [] : [custom]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    invocation.join(' '),
    '</powershell>',
  ].join('\n');
}
