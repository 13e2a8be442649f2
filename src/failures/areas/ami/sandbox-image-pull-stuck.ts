// Before any pod runs, containerd pulls the pause image from ECR; a node without a way to ECR waits there for ever.
import { regionOf } from '../../facts.ts';
import type { Failure } from '../../failure.ts';
import { aroundOf, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';
import { clusterNetwork, routeTables } from '../../network-rules.ts';

export const sandboxImagePullStuck: Failure = {
  id: 'ami/sandbox-image-pull-stuck',
  severity: 'high',
  symptom:
    '`sandbox-image.service` stays `activating (start)` for minutes; the script hangs at `aws ecr get-login-password`.',
  cause:
    'The node reaches neither ECR nor the S3 store behind it: a private subnet without NAT or endpoints, or an endpoint that refuses the node',
  fix: 'Endpoints `ecr.api`, `ecr.dkr`, `s3` (gateway), `sts`, `ec2`, `eks` with security groups that admit the nodes; or NAT.',
  needs: [texts('node')],
  signs: [
    {
      words: ['sandbox-image', 'pull-sandbox-image'],
      pattern:
        /sandbox-image\.service.{0,300}(?:activating \(start\)|timed? ?out|Failed with result|start operation timed out|failed|entered failed state|code=exited, status=[1-9])|Failed to start (?:sandbox-image\.service|pull sandbox image)|pull-sandbox-image\.sh.{0,300}(?:timeout|timed out|deadline exceeded|sleep \d+|failed|runtime error|panic|goroutine|RunAsSubcommand)/i,
      until: ['nodeReady', 'podStarted', 'sandboxPulled'],
    },
    {
      words: ['/eks/pause'],
      pattern:
        /(?:failed to (?:pull|get|resolve)|ErrImagePull|pulling|pull and unpack).{0,260}\/eks\/pause[:@][\w.-]+.{0,400}(?:i\/o timeout|deadline exceeded|timed out|connection refused|no such host|Client\.Timeout|network is unreachable)/i,
      until: ['nodeReady', 'podStarted', 'sandboxPulled'],
    },
    {
      words: ['ecr get-login-password'],
      pattern:
        /aws ecr get-login-password --region (?<region>[\w-]+)\s*$|aws ecr get-login-password.{0,160}(?:timed out|Connect timeout|hang|stuck|Could not connect)/i,
      where: ['node', 'asked'],
      confidence: 'likely',
      until: ['nodeReady', 'podStarted', 'sandboxPulled'],
    },
  ],
  fromText(sightings, evidence) {
    const region =
      aroundOf(sightings, /dkr\.ecr\.([\w-]+)\.amazonaws/) ??
      aroundOf(sightings, /--region ([\w-]+)/) ??
      regionOf(evidence);
    const { vpc, subnets, group } = clusterNetwork(evidence);
    return [
      foundIn(sightings, {
        summary: 'The node cannot pull its pause image: it does not reach ECR, so no pod of it will ever start.',
        fix: [
          ...['ecr.api', 'ecr.dkr', 'sts'].map(
            (service) =>
              `aws ec2 create-vpc-endpoint --vpc-id ${vpc} --service-name com.amazonaws.${region}.${service} --vpc-endpoint-type Interface --private-dns-enabled --subnet-ids ${subnets} --security-group-ids ${group}  # the group must admit 443 from the nodes`,
          ),
          `aws ec2 create-vpc-endpoint --vpc-id ${vpc} --service-name com.amazonaws.${region}.s3 --route-table-ids ${routeTables(evidence, vpc)}`,
          'Where the endpoints exist, their security groups must admit 443 from the nodes; or give the subnets a NAT gateway.',
        ],
      }),
    ];
  },
  explains: [
    'registration/undiagnosed-timeout',
    'init/cni-not-initialised',
    'init/never-initialised-never-removed',
    'registration/kubelet-never-posted-status',
  ],
};
