// One message of the interruption queue: an EventBridge event in its envelope, read as what it means for instances.
// Whatever we do not act on is a `no_op`; only text that is not an event at all is an error.
import { KerfError, messageOf } from '../../base/index.ts';

export type InterruptionKind =
  | 'spot_interrupted'
  | 'rebalance_recommendation'
  | 'instance_stopped'
  | 'instance_terminated'
  | 'scheduled_change'
  | 'capacity_reservation_interrupted'
  | 'no_op';

export interface InterruptionMessage {
  kind: InterruptionKind;
  instanceIds: string[];
}

const noOp: InterruptionMessage = { kind: 'no_op', instanceIds: [] };

interface Envelope {
  version?: unknown;
  source?: unknown;
  'detail-type'?: unknown;
  detail?: Record<string, unknown>;
}

type Reader = (detail: Record<string, unknown>) => InterruptionMessage;

const ofInstance =
  (kind: InterruptionKind): Reader =>
  (detail) => ({ kind, instanceIds: idsOf([detail['instance-id']]) });

const kindsOfStates: Record<string, InterruptionKind> = {
  stopping: 'instance_stopped',
  stopped: 'instance_stopped',
  'shutting-down': 'instance_terminated',
  terminated: 'instance_terminated',
};

const readers: Record<string, Reader> = {
  'aws.ec2/EC2 Spot Instance Interruption Warning': ofInstance('spot_interrupted'),
  'aws.ec2/EC2 Instance Rebalance Recommendation': ofInstance('rebalance_recommendation'),
  'aws.ec2/EC2 Capacity Reservation Instance Interruption Warning': ofInstance('capacity_reservation_interrupted'),
  'aws.ec2/EC2 Instance State-change Notification': (detail) => {
    const kind = kindsOfStates[String(detail['state']).toLowerCase()];
    return kind === undefined ? noOp : ofInstance(kind)(detail);
  },
  'aws.health/AWS Health Event': (detail) => {
    if (detail['service'] !== 'EC2' || detail['eventTypeCategory'] !== 'scheduledChange') return noOp;
    const entities = Array.isArray(detail['affectedEntities']) ? detail['affectedEntities'] : [];
    const values = entities.map((each: unknown) => (each as { entityValue?: unknown } | null)?.entityValue);
    return { kind: 'scheduled_change', instanceIds: idsOf(values) };
  },
};

export function readInterruption(body: string | undefined): InterruptionMessage {
  if (body === undefined || body === '') return noOp;
  let envelope: unknown;
  try {
    envelope = JSON.parse(body);
  } catch (error) {
    throw new KerfError('InterruptionUnreadable', `not an EventBridge event: ${messageOf(error)}`, { cause: error });
  }
  if (typeof envelope !== 'object' || envelope === null)
    throw new KerfError('InterruptionUnreadable', 'not an EventBridge event: it is not a JSON object');
  const { version, source, 'detail-type': type, detail } = envelope as Envelope;
  if (version !== '0') return noOp;
  return readers[`${String(source)}/${String(type)}`]?.(detail ?? {}) ?? noOp;
}

function idsOf(values: unknown[]): string[] {
  return [...new Set(values.filter((value): value is string => typeof value === 'string' && value !== ''))];
}
