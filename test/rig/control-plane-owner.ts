// Owns a control plane, says so, and waits to be killed (see control-plane.test.ts).
import { startControlPlane } from '../setup/control-plane.ts';

const { supervisorPid, folder } = await startControlPlane({ controllerManager: true, scheduler: true });
console.log(JSON.stringify({ pid: process.pid, supervisorPid, folder }));
setInterval(() => {}, 60_000);
