// Every controller of the process, in one list: the controller process, the embedded cluster and the scenario tests all
// run this one.
import type { Part } from '../runtime/index.ts';
import { capacityBuffersController } from './buffer/controller.ts';
import { clockController } from './clock/controller.ts';
import { conditionControllers } from './conditions/kinds.ts';
import type { Controller, ControllerContext } from './context.ts';
import { DeletionCostQueue } from './deletion-cost/queue.ts';
import { deletionCostController } from './deletion-cost/ranking.ts';
import { DisruptionLoop } from './disruption/loop.ts';
import { disruptionMetrics } from './disruption/metrics.ts';
import { CommandQueue } from './disruption/queue.ts';
import { DisruptionReport } from './disruption/report.ts';
import { VerdictLoop } from './disruption/verdict-loop.ts';
import { EvictionQueue } from './eviction/eviction-queue.ts';
import { nodeHealthController } from './health/node-health.ts';
import { InputWatch } from './input-watch.ts';
import { malformedController, type RefusedObjects } from './malformed.ts';
import { nodeMetricsController } from './metrics/node-metrics.ts';
import { podMetricsController } from './metrics/pod-metrics.ts';
import { poolMetricsController } from './metrics/pool-metrics.ts';
import { nodeHydrationController } from './node/hydration.ts';
import { nodeTerminationController } from './node/termination/controller.ts';
import { type ClaimMetrics, claimMetrics } from './nodeclaim/claim-metrics.ts';
import { consistencyController } from './nodeclaim/consistency.ts';
import { claimDisruptionController } from './nodeclaim/disruption/controller.ts';
import { expirationController } from './nodeclaim/expiration.ts';
import { garbageCollectionController } from './nodeclaim/garbage-collection.ts';
import { healthReporter } from './nodeclaim/health-reporter.ts';
import { claimHydrationController } from './nodeclaim/hydration.ts';
import { lifecycleController } from './nodeclaim/lifecycle/controller.ts';
import { MachineRemoval } from './nodeclaim/machine-removal.ts';
import { podEventsController } from './nodeclaim/pod-events.ts';
import { RegistrationHealth } from './nodeclaim/registration-health.ts';
import { costController } from './nodepool/cost.ts';
import { counterController } from './nodepool/counter.ts';
import { hashController } from './nodepool/hash.ts';
import { readinessController } from './nodepool/readiness.ts';
import { registrationHealthController } from './nodepool/registration-health.ts';
import { validationController } from './nodepool/validation.ts';
import { nodeOverlayController } from './overlay/controller.ts';
import { OverlayStore, overlaidCloud } from './overlay/overlay-store.ts';
import { Provisioner } from './provisioning/provisioner.ts';
import { nodeTrigger, podTrigger } from './provisioning/triggers.ts';
import { rebootController } from './reboot/reboot.ts';
import { staticDeprovisioningController } from './static/deprovisioning.ts';
import { NodeCounts } from './static/node-counts.ts';
import { staticProvisioningController } from './static/provisioning.ts';

export interface Controllers {
  controllers: Controller[];
  /** Loops that are not reconcilers of objects. */
  loops: Part[];
}

/** `objects` are those that the gate before the context's client keeps from everybody else. */
export function controllersOf(given: ControllerContext, objects: RefusedObjects): Controllers {
  const overlays =
    given.settings.featureGates['NodeOverlay'] === true ? new OverlayStore(given.cloud.facts) : undefined;
  const context =
    overlays === undefined
      ? given
      : { ...given, cloud: overlaidCloud(given.cloud, overlays, (name) => given.cluster.nodePools.get(name)) };
  const provisioner = new Provisioner(context);
  const metrics = claimMetrics(context.metrics);
  const health = new RegistrationHealth();
  const reporter = healthReporter(context, health);
  const evictions = new EvictionQueue(context);
  const removals = new MachineRemoval(context);
  const nodes = new NodeCounts(context.cluster);
  const disruption = disruptionLoops(context, metrics, nodes);
  return {
    controllers: [
      podTrigger(context, provisioner.batcher),
      nodeTrigger(context, provisioner.batcher),
      lifecycleController(context, metrics, reporter, removals),
      nodeTerminationController(context, metrics, evictions, removals),
      evictions.controller,
      rebootController(context, evictions),
      expirationController(context, metrics),
      garbageCollectionController(context, metrics),
      podEventsController(context),
      consistencyController(context),
      claimHydrationController(context),
      nodeHydrationController(context),
      readinessController(context),
      validationController(context),
      hashController(context),
      counterController(context),
      registrationHealthController(context, health),
      claimDisruptionController(context),
      malformedController(context, objects),
      clockController(context),
      ...gated(context, metrics, provisioner, nodes),
      ...deletionCosts(context, disruption.queued),
      ...(overlays === undefined ? [] : [nodeOverlayController(given, overlays)]),
      ...observability(context, overlays),
    ],
    loops: [
      { name: 'provisioner', run: (signal) => provisioner.run(signal) },
      { name: 'disruption', run: (signal) => disruption.loop.run(signal) },
      { name: 'disruption.verdicts', run: (signal) => disruption.verdicts.run(signal) },
      { name: 'disruption.input', run: (signal) => new InputWatch(context).run(signal) },
    ],
  };
}

function disruptionLoops(context: ControllerContext, claims: ClaimMetrics, counts: NodeCounts) {
  const metrics = disruptionMetrics(context.metrics);
  const report = new DisruptionReport(context);
  const queue = new CommandQueue(context, { metrics, claims, report, counts });
  return {
    loop: new DisruptionLoop(context, { queue, metrics, report }),
    verdicts: new VerdictLoop(context, () => queue.names()),
    queued: () => queue.names(),
  };
}

function deletionCosts(context: ControllerContext, queued: () => ReadonlySet<string>): Controller[] {
  if (context.settings.featureGates['PodDeletionCostManagement'] !== true) return [];
  const queue = new DeletionCostQueue(context);
  return [deletionCostController(context, queue, queued), queue.controller];
}

/** Controllers that run only with their feature gate. */
function gated(
  context: ControllerContext,
  metrics: ClaimMetrics,
  provisioner: Provisioner,
  nodes: NodeCounts,
): Controller[] {
  const { featureGates } = context.settings;
  const controllers: Controller[] = [];
  if (featureGates['StaticCapacity'] === true)
    controllers.push(staticProvisioningController(context, nodes), staticDeprovisioningController(context, nodes));
  const repairs = featureGates['NodeRepair'] === true && context.cloud.repairPolicies().length > 0;
  if (repairs && context.settings.legacyNodeRepair === true) controllers.push(nodeHealthController(context, metrics));
  if (featureGates['CapacityBuffer'] === true) {
    const buffers = capacityBuffersController(context, (uid) => provisioner.batcher.trigger(uid));
    provisioner.onPass((plan) => buffers.afterPass(plan));
    controllers.push(buffers.controller);
  }
  return controllers;
}

/** Gauges about every pod, node and pool; large clusters may do without. */
function observability(context: ControllerContext, overlays: OverlayStore | undefined): Controller[] {
  if (context.settings.disableClusterStateObservability) return [];
  return [
    nodeMetricsController(context),
    podMetricsController(context),
    poolMetricsController(context),
    costController(context, overlays),
    ...conditionControllers(context),
  ];
}
