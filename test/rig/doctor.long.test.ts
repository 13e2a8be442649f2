// What a migration leaves behind in a real cluster: `kerf doctor` looks at it live, and the fix, carried out as it is printed,
// makes the finding go.
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { ProgramFailed, runProgram } from '../setup/run-program.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane();
const kerf = fileURLToPath(new URL('../../bin/kerf', import.meta.url));

interface Finding {
  id: string;
  confidence: string;
  evidence: { source: string }[];
  fix: string[];
}

async function examined(id: string): Promise<Finding | undefined> {
  const args = ['doctor', '--kubeconfig', cluster().kubeconfig, '-o', 'json', '--only', id];
  const { stdout } = await runProgram(kerf, args).catch((error: unknown) => {
    // Exit 1: something was found.
    if (error instanceof ProgramFailed && error.exitCode === 1) return error;
    throw error;
  });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.find((finding) => finding.id === id);
}

const apply = (object: object) => cluster().kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });

/** The controller of 1.x, whose pods need not run to be looked at. */
const labels = { 'app.kubernetes.io/name': 'karpenter' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'karpenter', namespace: 'kube-system', labels },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'karpenter',
        containers: [{ name: 'controller', image: 'public.ecr.aws/karpenter/controller:1.9.2' }],
      },
    },
  },
};

beforeAll(async () => void (await apply(deployment)), 300_000);

test('a webhook of an older release that nothing answers is found, and gone once it is deleted as printed', async () => {
  const id = 'crd/admission-webhook-unreachable';
  expect(await examined(id)).toBeUndefined();
  await apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'validation.webhook.karpenter.sh' },
    webhooks: [
      {
        name: 'validation.webhook.karpenter.sh',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        clientConfig: { service: { name: 'karpenter', namespace: 'kube-system', port: 8443 } },
        rules: [{ apiGroups: ['karpenter.sh'], apiVersions: ['*'], operations: ['CREATE'], resources: ['nodeclaims'] }],
      },
    ],
  });
  const found = await examined(id);
  expect(found).toMatchObject({ confidence: 'certain' });
  expect(found?.evidence[0]?.source).toBe('ValidatingWebhookConfiguration validation.webhook.karpenter.sh');
  const [, ...args] = found?.fix.find((line) => line.startsWith('kubectl delete'))?.split(' ') ?? [];
  await cluster().kubectl(args);
  expect(await examined(id)).toBeUndefined();
});

test('bindings that name the namespace of before are found, until one names the right account', async () => {
  const id = 'startup/kubernetes-permission-missing';
  const binding = (namespace: string): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'karpenter' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'karpenter' },
    subjects: [{ kind: 'ServiceAccount', name: 'karpenter', namespace }],
  });
  await apply(binding('karpenter'));
  expect(await examined(id)).toMatchObject({ confidence: 'certain' });
  await apply(binding('kube-system'));
  expect(await examined(id)).toBeUndefined();
});
