// The fields of dynamic resource allocation's objects that planning reads, with their types, and what instance types
// declare about devices their nodes will bring.
import { fields, flag, integer, listOf, mapOf, openFields, quantity, type Shape, text } from './shape.ts';

const nodeSelector = openFields({
  nodeSelectorTerms: listOf(
    openFields({
      matchExpressions: listOf(openFields({ key: text, operator: text, values: listOf(text) }, ['key', 'operator'])),
    }),
  ),
});
const reach = { nodeName: text, allNodes: flag, nodeSelector };
const counters = mapOf(openFields({ value: quantity }, ['value']));
const selectors = listOf(openFields({ cel: openFields({ expression: text }) }));
const capacity = openFields(
  {
    value: quantity,
    requestPolicy: openFields({
      default: quantity,
      validValues: listOf(quantity),
      validRange: openFields({ min: quantity, max: quantity, step: quantity }),
    }),
  },
  ['value'],
);
const taint = openFields({ key: text, value: text, effect: text });
const asked = {
  deviceClassName: text,
  selectors,
  allocationMode: text,
  count: integer,
  tolerations: listOf(openFields({ key: text, operator: text, value: text, effect: text })),
  capacity: openFields({ requests: mapOf(quantity) }),
};
const device = openFields(
  {
    ...reach,
    name: text,
    attributes: mapOf(openFields({ int: integer, bool: flag, string: text, version: text })),
    capacity: mapOf(capacity),
    allowMultipleAllocations: flag,
    taints: listOf(taint),
    consumesCounters: listOf(openFields({ counterSet: text, counters }, ['counterSet'])),
  },
  ['name'],
);

const ownCounters = mapOf(fields({ value: quantity }, ['value']));
const ownDevice = fields(
  {
    name: text,
    attributes: mapOf(fields({ int: integer, bool: flag, string: text, version: text })),
    capacity: mapOf(
      fields(
        {
          value: quantity,
          requestPolicy: fields({
            default: quantity,
            validValues: listOf(quantity),
            validRange: fields({ min: quantity, max: quantity, step: quantity }),
          }),
        },
        ['value'],
      ),
    ),
    allowMultipleAllocations: flag,
    consumesCounters: listOf(fields({ counterSet: text, counters: ownCounters }, ['counterSet'])),
  },
  ['name'],
);

/** Of an instance type: its devices are the node's own, so that nothing is said about where they are used. */
export const dynamicResourcesShape: Shape = fields({
  resourceSliceTemplates: listOf(
    fields(
      {
        driver: text,
        pool: fields({ name: text }, ['name']),
        devices: listOf(ownDevice),
        sharedCounters: listOf(fields({ name: text, counters: ownCounters }, ['name'])),
      },
      ['driver', 'pool'],
    ),
  ),
  attributeBindings: listOf(
    fields(
      {
        attribute: text,
        devices: listOf(fields({ driver: text, pool: text, device: text }, ['driver', 'pool', 'device'])),
      },
      ['attribute', 'devices'],
    ),
  ),
});

/** The parts of each kind, beside its metadata. */
export const deviceShapes: Readonly<
  Record<'ResourceSlice' | 'ResourceClaim' | 'DeviceClass' | 'DeviceTaintRule', Record<string, Shape>>
> = {
  ResourceSlice: {
    spec: openFields({
      ...reach,
      driver: text,
      pool: openFields({ name: text, generation: integer, resourceSliceCount: integer }),
      perDeviceNodeSelection: flag,
      devices: listOf(device),
      sharedCounters: listOf(openFields({ name: text, counters }, ['name'])),
    }),
  },
  ResourceClaim: {
    spec: openFields({
      devices: openFields({
        requests: listOf(
          openFields(
            {
              name: text,
              exactly: openFields(asked),
              firstAvailable: listOf(openFields({ name: text, ...asked }, ['name'])),
            },
            ['name'],
          ),
        ),
        constraints: listOf(openFields({ requests: listOf(text), matchAttribute: text, distinctAttribute: text })),
      }),
    }),
    status: openFields({
      allocation: openFields({
        nodeSelector,
        devices: openFields({
          results: listOf(
            openFields({
              driver: text,
              pool: text,
              device: text,
              adminAccess: flag,
              consumedCapacity: mapOf(quantity),
            }),
          ),
        }),
      }),
      reservedFor: listOf(openFields({ apiGroup: text, resource: text, name: text, uid: text })),
    }),
  },
  DeviceClass: { spec: openFields({ selectors, extendedResourceName: text }) },
  DeviceTaintRule: {
    spec: openFields({ deviceSelector: openFields({ driver: text, pool: text, device: text }), taint }),
  },
};
