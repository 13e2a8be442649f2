// Is this a snapshot? Checks the whole document, its own fields strictly and the objects as far as planning reads them,
// and says everything that is wrong with it at once.
import { parseTime } from '../../base/index.ts';
import { isTimeZone, type Snapshot } from '../../core/index.ts';
import { dynamicResourcesShape } from './device-shapes.ts';
import { objectShapes, ownerShapes } from './object-shapes.ts';
import {
  checkShape,
  choice,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  number,
  openFields,
  quantity,
  type Shape,
  type ShapeProblem,
  text,
} from './shape.ts';

const requirement = fields(
  {
    key: text,
    operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'),
    values: listOf(text),
    minValues: integer,
  },
  ['key', 'operator'],
);
const resources = mapOf(quantity);
const overhead = fields({ kubeReserved: resources, systemReserved: resources, evictionThreshold: resources });

const offering = fields(
  {
    requirements: listOf(requirement),
    price: number,
    available: flag,
    reservationCapacity: integer,
    capacityOverride: resources,
    overheadOverride: overhead,
    priceOverlayApplied: flag,
  },
  ['requirements', 'price', 'available'],
);

/** One instance type of a catalogue. */
export const instanceTypeShape: Shape = fields(
  {
    name: text,
    requirements: listOf(requirement),
    capacity: resources,
    overhead,
    capacityOverlayApplied: flag,
    volumeAttachmentLimits: mapOf(integer),
    dynamicResources: dynamicResourcesShape,
    offerings: listOf(offering),
  },
  ['name', 'requirements', 'capacity', 'offerings'],
);

/** The catalogue of one NodePool. */
export const poolInstanceTypesShape: Shape = fields({ nodePool: text, error: text, items: listOf(instanceTypeShape) }, [
  'nodePool',
]);

const snapshotShape = fields(
  {
    apiVersion: choice('kerf/v1'),
    kind: choice('Snapshot'),
    name: text,
    time: text,
    settings: fields({
      preferencePolicy: choice('Respect', 'Ignore'),
      minValuesPolicy: choice('Strict', 'BestEffort'),
      ignoreDRARequests: flag,
      maxInstanceTypes: integer,
      nodeCostPerHour: number,
      budgetTimeZone: text,
      defaultTopologySpreadConstraints: listOf(
        fields(
          {
            maxSkew: integer,
            topologyKey: text,
            whenUnsatisfiable: choice('DoNotSchedule', 'ScheduleAnyway'),
            minDomains: integer,
            nodeAffinityPolicy: choice('Honor', 'Ignore'),
            nodeTaintsPolicy: choice('Honor', 'Ignore'),
          },
          ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
        ),
      ),
      consolidationPaybackSeconds: number,
      featureGates: mapOf(flag),
    }),
    provider: fields({
      nodeClasses: listOf(text),
      wellKnownLabels: listOf(text),
      restrictedLabels: listOf(text),
      restrictedLabelDomains: listOf(text),
      normalizedLabels: mapOf(text),
      normalizedLabelValues: mapOf(mapOf(text)),
      reservationIDLabel: text,
      reservedCapacityLabels: listOf(text),
      unsupportedProvisioners: listOf(text),
      unsupportedTopologyKeys: listOf(text),
      repairPolicies: listOf(
        fields(
          {
            conditionType: text,
            conditionStatus: choice('True', 'False', 'Unknown'),
            reasonRegex: text,
            tolerationMs: number,
            terminationGracePeriodMs: number,
            priority: integer,
            action: choice('ReplaceNode', 'RebootNode'),
          },
          ['conditionType', 'conditionStatus', 'tolerationMs'],
        ),
      ),
    }),
    // A List as `kubectl get -o json` writes it may carry metadata of its own.
    objects: openFields({ apiVersion: choice('v1'), kind: choice('List'), items: listOf(openFields({})) }, ['items']),
    nodeState: listOf(
      fields({
        node: text,
        nodeClaim: text,
        providerID: text,
        initialized: flag,
        markedForDeletion: flag,
        nominated: flag,
        unhealthySince: mapOf(text),
      }),
    ),
    poolState: listOf(
      fields(
        {
          nodePool: text,
          pausedUntil: text,
          pausedBecause: fields({ code: text, message: text }),
          inUse: resources,
        },
        ['nodePool'],
      ),
    ),
    failedOfferings: listOf(
      fields({ instanceType: text, zone: text, capacityType: text, until: text, reason: text }, [
        'instanceType',
        'zone',
        'capacityType',
      ]),
    ),
    instanceTypes: listOf(poolInstanceTypesShape),
  },
  ['objects'],
);

export interface SnapshotCheck {
  snapshot: Snapshot;
  problems: ShapeProblem[];
  /** Kinds no one here reads, with how many objects of each. */
  unknownKinds: Map<string, number>;
}

/** `snapshot` may be used only if there are no problems. */
export function checkSnapshot(value: unknown): SnapshotCheck {
  const problems: ShapeProblem[] = [];
  checkShape(value, snapshotShape, [], problems);
  const snapshot = value as Snapshot;
  const unknownKinds = new Map<string, number>();
  if (problems.length === 0) {
    checkObjects(snapshot.objects.items, problems, unknownKinds);
    checkDetails(snapshot, problems);
  }
  return { snapshot, problems, unknownKinds };
}

function checkObjects(items: readonly unknown[], problems: ShapeProblem[], unknownKinds: Map<string, number>): void {
  const seen = new Set<string>();
  const path: (string | number)[] = ['objects', 'items', 0];
  for (let index = 0; index < items.length; index += 1) {
    path[2] = index;
    const item = items[index] as Record<string, unknown>;
    const kind = item['kind'];
    if (typeof kind !== 'string') {
      problems.push({ path: [...path, 'kind'], message: 'is missing: every object says what it is' });
      continue;
    }
    const shape = shapeOf(kind);
    if (shape === undefined) {
      unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + 1);
      continue;
    }
    const before = problems.length;
    checkShape(item, shape, path, problems);
    if (problems.length > before) continue;
    const metadata = item['metadata'] as Record<string, unknown>;
    if (metadata['name'] === undefined) {
      problems.push({ path: [...path, 'metadata', 'name'], message: 'is missing' });
      continue;
    }
    const id = `${kind} ${metadata['namespace'] ?? ''}/${metadata['name']}`;
    if (seen.has(id)) problems.push({ path: [...path], message: `is a second ${id.replace(' /', ' ')}: keep one` });
    seen.add(id);
  }
}

function shapeOf(kind: string): Shape | undefined {
  if (Object.hasOwn(objectShapes, kind)) return objectShapes[kind];
  return Object.hasOwn(ownerShapes, kind) ? ownerShapes[kind] : undefined;
}

function checkDetails(snapshot: Snapshot, problems: ShapeProblem[]): void {
  if (snapshot.time !== undefined && parseTime(snapshot.time) === undefined) {
    problems.push({ path: ['time'], message: timeExpected });
  }
  const most = snapshot.settings?.maxInstanceTypes;
  if (most !== undefined && most < 1)
    problems.push({ path: ['settings', 'maxInstanceTypes'], message: 'must be 1 or more' });
  const nodeCost = snapshot.settings?.nodeCostPerHour;
  if (nodeCost !== undefined && nodeCost < 0)
    problems.push({ path: ['settings', 'nodeCostPerHour'], message: 'must be 0 or more' });
  const zone = snapshot.settings?.budgetTimeZone;
  if (zone !== undefined && !isTimeZone(zone))
    problems.push({ path: ['settings', 'budgetTimeZone'], message: 'must be UTC or a name like Europe/Berlin' });
  for (const [index, entry] of (snapshot.nodeState ?? []).entries()) {
    if (entry.node === undefined && entry.nodeClaim === undefined) {
      problems.push({ path: ['nodeState', index], message: 'names neither a node nor a nodeClaim' });
    }
  }
  checkOnePerPool('instanceTypes', 'list', snapshot.instanceTypes, problems);
  checkOnePerPool('poolState', 'entry', snapshot.poolState, problems);
  const isNoTime = (time: string | undefined): boolean => time !== undefined && parseTime(time) === undefined;
  for (const [index, { pausedUntil }] of (snapshot.poolState ?? []).entries()) {
    if (isNoTime(pausedUntil)) problems.push({ path: ['poolState', index, 'pausedUntil'], message: timeExpected });
  }
  for (const [index, { until }] of (snapshot.failedOfferings ?? []).entries()) {
    if (isNoTime(until)) problems.push({ path: ['failedOfferings', index, 'until'], message: timeExpected });
  }
}

const timeExpected = 'must be a time such as 2026-11-16T04:00:00Z (RFC 3339)';

function checkOnePerPool(
  field: string,
  what: string,
  entries: readonly { nodePool: string }[] | undefined,
  problems: ShapeProblem[],
): void {
  const seen = new Set<string>();
  for (const [index, { nodePool }] of (entries ?? []).entries()) {
    if (seen.has(nodePool))
      problems.push({ path: [field, index], message: `is a second ${what} for NodePool ${nodePool}: keep one` });
    seen.add(nodePool);
  }
}
