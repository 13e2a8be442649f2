// One contender for a lease, as a process of its own: `contender-process.ts <name> <kubeconfig>`. Prints a line of JSON
// for every term it starts or loses, and several times a second while it leads: what a leader would do to the cluster.
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { LeaderElection, RealClock } from '../../src/runtime/index.ts';

const [name = '', kubeconfig = ''] = process.argv.slice(2);
const clock = new RealClock();
const access = await findAccess({ clock, env: {}, kubeconfig });
const kube = new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 50, burst: 50 } });
const say = (what: string): void => void process.stdout.write(`${JSON.stringify({ name, what, atMs: Date.now() })}\n`);

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());

for (let term = 1; !stop.signal.aborted; term++) {
  const election = new LeaderElection({
    kube,
    clock,
    lease: { name: 'contested', namespace: 'default' },
    identity: `${name}-${term}`,
    leaseDurationMs: 6_000,
    renewDeadlineMs: 4_000,
    retryPeriodMs: 800,
  });
  const outcome = await election.run(stop.signal, async (ended) => {
    say('started');
    while (!ended.aborted) {
      // As a controller would: ask, then act at once.
      if (election.isLeader()) say('acted');
      await clock.sleep(20);
    }
  });
  say(outcome);
}
await kube.close();
