// Objects and answers in what people paste.
import { expect, test } from 'vitest';
import { catalogue, diagnose } from '../../failures/index.ts';
import { Gathering } from './gather.ts';
import { answersIn, objectsIn } from './transcript.ts';

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function findingsIn(text: string): Promise<{ id: string; source: string | undefined }[]> {
  const gathering = new Gathering();
  await gathering.addText({ source: 'stdin', kind: 'asked' }, bytes(text));
  const { evidence } = gathering.finish({ isAsked: true });
  return diagnose(catalogue, evidence).findings.map(({ id, evidence: [first] }) => ({ id, source: first?.source }));
}

const nodeClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: general
spec:
  amiSelectorTerms:
  - alias: al2023@latest
  metadataOptions:
    httpPutResponseHopLimit: 2
    httpTokens: optional
  role: nodes
status:
  conditions:
  - type: Ready
    status: "True"
`;

test('an object between prompts is read as an object, with the line it stands in', async () => {
  const text = `Why is this slow?\n$ kubectl get ec2nodeclass general -o yaml\n${nodeClass}$ kubectl get pods\nNo resources found\n`;
  expect(objectsIn(text)).toEqual([{ line: 3, text: nodeClass.trimEnd() }]);
  expect(await findingsIn(text)).toEqual([{ id: 'iam/imds-open-to-pods', source: 'stdin:3' }]);
});

test('items of a List, and objects in JSON', async () => {
  const items = nodeClass.replaceAll(/^/gm, '  ').replace('  ', '- ').trimEnd();
  const list = `apiVersion: v1\nitems:\n${items}\nkind: List\nmetadata:\n  resourceVersion: ""\n`;
  expect((await findingsIn(`$ kubectl get ec2nodeclass -o yaml\n${list}`)).map(({ id }) => id)).toEqual([
    'iam/imds-open-to-pods',
  ]);
  const json = JSON.stringify({ apiVersion: 'v1', kind: 'Pod' }, undefined, 4);
  expect(objectsIn(`> kubectl get pod -o json\n${json}\nand so on`)).toEqual([{ line: 2, text: json }]);
});

test('a lone pod is not taken for a whole cluster', async () => {
  const pod =
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  nodeName: ip-10-0-0-1\nstatus:\n  phase: Running\n';
  expect(await findingsIn(`$ kubectl get pod web -o yaml\n${pod}`)).toEqual([]);
});

test('an answer of the aws command is that of its operation, unless a query changed it', async () => {
  const body = JSON.stringify({ AttachedPolicies: [] }, undefined, 4);
  const asked = 'aws iam list-attached-role-policies --role-name nodes';
  expect(answersIn(`[ops@box ~]$ ${asked}\n${body}\n`)).toEqual([
    { name: 'iam-list-attached-role-policies-nodes', line: 2, text: body },
  ]);
  expect(answersIn(`$ ${asked} --query 'AttachedPolicies'\n${body}\n`)).toEqual([]);
  const text = `$ kubectl get ec2nodeclass general -o yaml\n${nodeClass.replace('optional', 'required').replace('HopLimit: 2', 'HopLimit: 1')}$ ${asked}\n${body}\n`;
  expect((await findingsIn(text)).map(({ id }) => id)).toContain('iam/node-role-policies-missing');
});
