// Access entries, which moto does not have, and EKS DescribeCluster with the fields that moto invents (endpoint, certificate authority) or lacks (IPv6 service range,
// zonal shift) replaced by what a test set; and the zonal shifts of ARC, a service moto does not have.
import { type AwsAnswer, type AwsCall, AwsRefusal, jsonAnswer } from './exchange.ts';
import type { World } from './world.ts';

export async function answerEks(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  const entry = /^\/clusters\/([^/?]+)\/access-entries(?:\/([^/?]+))?(?:\?|$)/.exec(call.path);
  if (entry !== null) return answerAccessEntries(call, world, decodeURIComponent(entry[1] ?? ''), entry[2]);
  const name = /^\/clusters\/([^/?]+)$/.exec(call.path)?.[1];
  if (call.method !== 'GET' || name === undefined) return undefined;
  const set = world.clusters.get(decodeURIComponent(name));
  if (set === undefined) return undefined;
  const answer = await world.upstream.forward(call);
  if (answer.status !== 200) return answer;
  const { cluster } = JSON.parse(answer.body) as { cluster: Record<string, unknown> };
  return { ...answer, body: JSON.stringify({ cluster: { ...cluster, ...set } }) };
}

function answerAccessEntries(call: AwsCall, world: World, clusterName: string, encoded: string | undefined): AwsAnswer {
  const entries = world.accessEntries;
  const keyOf = (arn: string): string => `${clusterName} ${arn}`;
  if (encoded === undefined && call.method === 'GET') {
    const own = [...entries.values()].filter((each) => each.clusterName === clusterName);
    return jsonAnswer({ accessEntries: own.map(({ principalArn }) => principalArn) });
  }
  const principalArn = encoded === undefined ? String(call.json['principalArn']) : decodeURIComponent(encoded);
  if (call.method === 'POST') {
    const accessEntry = { clusterName, principalArn, type: String(call.json['type'] ?? 'STANDARD') };
    entries.set(keyOf(principalArn), accessEntry);
    return jsonAnswer({ accessEntry });
  }
  const accessEntry = entries.get(keyOf(principalArn));
  if (accessEntry === undefined)
    throw new AwsRefusal('ResourceNotFoundException', `no access entry for ${principalArn}`, 404);
  if (call.method === 'DELETE') entries.delete(keyOf(principalArn));
  return jsonAnswer(call.method === 'DELETE' ? {} : { accessEntry });
}

export async function answerZonalShift(call: AwsCall, world: World): Promise<AwsAnswer> {
  const resource = /^\/managedresources\/(.+)$/.exec(call.path)?.[1];
  if (call.method !== 'GET' || resource === undefined) {
    throw new AwsRefusal('ValidationException', `the emulator only knows GetManagedResource, not ${call.action}`);
  }
  const arn = decodeURIComponent(resource);
  const shifts = world.zonalShifts.map(({ awayFromZoneId, expiresAt, status = 'APPLIED' }, index) => ({
    appliedStatus: status,
    awayFrom: awayFromZoneId,
    comment: 'emulated',
    expiryTime: Date.parse(expiresAt) / 1000,
    resourceIdentifier: arn,
    startTime: Math.floor(world.now() / 1000),
    zonalShiftId: `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`,
  }));
  return jsonAnswer({ arn, name: arn.split('/').at(-1), appliedWeights: {}, autoshifts: [], zonalShifts: shifts });
}
