export { replacingRebalanced } from './interruption/rebalance-drift.ts';
export { lostCapacityOf, machineControllersOf } from './machine-controllers.ts';
export { type NodeClassServices, nodeClassControllersOf } from './nodeclass/node-class-controllers.ts';
export { withSelection } from './nodeclass/selected.ts';
