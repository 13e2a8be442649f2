// The image does not carry what the bootstrap of its declared family expects.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const containerdConfigMissing: Failure = {
  id: 'ami/containerd-config-missing',
  severity: 'high',
  symptom:
    "The bootstrap stops: `sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory`.",
  cause:
    'The image and the bootstrap arguments are of different generations: the image does not carry what the script of its family expects',
  fix: 'Use an image of the family named in `amiFamily`; with an image of your own use `amiFamily: Custom` and complete user data.',
  needs: [texts('node')],
  signs: [
    {
      words: ['containerd-config.toml', '/etc/eks/bootstrap.sh', '/etc/eks/', 'nodeadm'],
      pattern:
        /(?:can't read|cannot open|cannot access|cannot stat)[ :'"]{1,3}\/etc\/eks\/containerd\/[\w.-]+['"]?: No such file|\/etc\/eks\/(?:bootstrap\.sh|containerd\/[\w.-]+|eni-max-pods\.txt)['"]?: (?:No such file or directory|not found|command not found)|nodeadm: (?:command )?not found|exec:? "?\/usr\/bin\/nodeadm"?.{0,40}no such file/i,
    },
    {
      words: ['no such kubelet', 'kubelet.service'],
      pattern:
        /(?:Unit|Failed to (?:start|enable).{0,20}) ?kubelet\.service (?:not found|does not exist)|Failed to start kubelet\.service: Unit (?:kubelet\.service )?not found/i,
      confidence: 'likely',
    },
    {
      words: ['failed at step exec spawning', 'failed to locate executable'],
      pattern:
        /(?:Failed to locate executable|Failed at step EXEC spawning) \/(?:usr\/)?(?:local\/)?bin\/(?:nodeadm|kubelet|containerd): (?:No such file|Permission denied)/i,
      confidence: 'likely',
      where: ['node', 'asked'],
      until: ['registered', 'nodeReady'],
    },
    // Flags that the kubelet of the image does not know (any more), or does not know yet.
    {
      words: ['failed to parse kubelet flag', 'unknown flag: --'],
      pattern:
        /failed to parse kubelet flag: unknown flag: (?<flag>--[\w-]+)|kubelet\b.{0,200}unknown flag: (?<flag2>--[\w-]+)/i,
      where: ['node', 'asked'],
      until: ['registered', 'nodeReady'],
    },
    // Bottlerocket refuses settings that its release does not have, or has as another type.
    {
      words: ['early-boot-config', 'bottlerocket userdata configuration'],
      pattern:
        /early-boot-config.{0,120}Error PATCHing '?\/settings.{0,300}|Failed to start Bottlerocket userdata configuration/i,
      confidence: 'likely',
      where: ['node', 'asked'],
      until: ['registered', 'nodeReady'],
    },
    // User data of one generation on an image of another: a NodeConfig run as a script, bootstrap.sh where nodeadm does it.
    {
      words: ['command not found', 'removed from al2023'],
      pattern:
        /part-\d+: line \d+: (?:apiVersion|kind|spec):: command not found|bootstrap\.sh has been removed from AL2023/i,
      until: ['registered', 'nodeReady'],
    },
  ],
  fromText(sightings) {
    const isRefused = sightings.every(({ text }) => /bottlerocket|early-boot-config|unknown flag/i.test(text));
    return [
      foundIn(sightings, {
        summary: isRefused
          ? 'The bootstrap stops because the image does not accept the settings or flags that it is given: user data and image do not belong together.'
          : 'The bootstrap stops because the image lacks files that it expects: image and family do not belong together.',
        fix: [
          'kubectl get ec2nodeclass -o custom-columns=NAME:.metadata.name,FAMILY:.spec.amiFamily,AMIS:.status.amis[*].name  # the family must be that of the image',
          ...(isRefused
            ? [
                'Correct spec.userData of the EC2NodeClass: the line above names the setting or flag that this image refuses.',
              ]
            : []),
          'spec.amiSelectorTerms: [{alias: al2023@latest}] selects an image and its family together; with an image of your own: amiFamily: Custom and complete spec.userData.',
        ],
      }),
    ];
  },
  explains: [
    'registration/undiagnosed-timeout',
    'init/cni-not-initialised',
    'registration/kubelet-never-posted-status',
  ],
};
