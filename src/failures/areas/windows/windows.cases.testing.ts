// Cases of windows/.
import { type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const windowsClass = object('EC2NodeClass', 'windows', {
  spec: { role: 'KarpenterNodeRole-win', amiSelectorTerms: [{ alias: 'windows2022@latest' }] },
});
const cniConfig = (data: object): object => object('ConfigMap', 'amazon-vpc-cni', { data }, 'kube-system');
const auth = (...groups: string[]): object =>
  object(
    'ConfigMap',
    'aws-auth',
    {
      data: {
        mapRoles: `- rolearn: arn:aws:iam::111122223333:role/KarpenterNodeRole-win\n  username: system:node:{{EC2PrivateDNSName}}\n  groups:\n${groups.map((group) => `  - ${group}\n`).join('')}`,
      },
    },
    'kube-system',
  );

export const windowsCases: readonly FailureCase[] = [
  {
    id: 'windows/support-not-enabled',
    name: 'the event of a pod',
    text: 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "a1b2": plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    confidence: 'certain',
    fix: ['enable-windows-ipam'],
  },
  {
    id: 'windows/support-not-enabled',
    name: 'a Windows class and a setting that is off',
    objects: [windowsClass, cniConfig({ 'enable-windows-ipam': 'false' })],
    confidence: 'certain',
  },
  {
    id: 'windows/support-not-enabled',
    name: 'a cluster where it is on',
    nearMiss: true,
    objects: [windowsClass, cniConfig({ 'enable-windows-ipam': 'true' })],
  },
  {
    id: 'windows/image-host-version-mismatch',
    name: 'the event of a pod',
    objects: [
      object(
        'Event',
        'pull',
        {
          reason: 'Failed',
          message:
            'Failed to pull image "mcr.microsoft.com/windows/servercore:ltsc2019": rpc error: code = NotFound desc = failed to pull and unpack image "mcr.microsoft.com/windows/servercore:ltsc2019": no match for platform in manifest: not found',
          lastTimestamp: minutesAgo(5),
          involvedObject: { kind: 'Pod', name: 'win', namespace: 'shop' },
        },
        'shop',
      ),
    ],
    now,
    fix: ['10.0.17763'],
  },
  {
    id: 'windows/image-host-version-mismatch',
    name: "Docker's words",
    text: 'no matching manifest for windows/amd64 10.0.20348 in the manifest list entries',
  },
  {
    id: 'windows/image-host-version-mismatch',
    name: 'a Linux image of another architecture',
    nearMiss: true,
    text: 'Failed to pull image "shop/web:1.2": rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/shop/web:1.2": no match for platform in manifest: not found',
  },
  {
    id: 'windows/dns-group-missing',
    name: 'a mapping for Linux',
    objects: [windowsClass, auth('system:bootstrappers', 'system:nodes')],
    confidence: 'certain',
    fix: ['eks:kube-proxy-windows'],
  },
  {
    id: 'windows/dns-group-missing',
    name: 'an access entry for Linux',
    objects: [windowsClass],
    aws: {
      'eks-describe-access-entry-win': {
        accessEntry: { principalArn: 'arn:aws:iam::111122223333:role/KarpenterNodeRole-win', type: 'EC2_LINUX' },
      },
    },
    cluster: { name: 'prod' },
    fix: ['--type EC2_WINDOWS'],
  },
  {
    id: 'windows/dns-group-missing',
    name: 'a mapping with the group',
    nearMiss: true,
    objects: [windowsClass, auth('system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows')],
  },
];
