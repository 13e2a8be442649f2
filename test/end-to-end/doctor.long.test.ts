// A healthy cluster that is scaling has no findings: `kerf doctor` looks at a real control plane again and again while pods
// wait, NodeClaims are launched, nodes join and, at last, leave.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useWorld } from './harness/world.ts';

const world = useWorld();
const run = promisify(execFile);

interface Report {
  findings: { id: string; severity: string; summary: string }[];
  checks: { outcome: string }[];
}

async function examined(): Promise<Report> {
  const { stdout } = await run(
    process.execPath,
    ['bin/kerf', 'doctor', '--kubeconfig', world.cluster().kubeconfig, '-o', 'json'],
    { maxBuffer: 1 << 26 },
  );
  return JSON.parse(stdout) as Report;
}

test('no finding above low during a scale-up and the way back', async () => {
  const room = await world.room('doctored');
  await room.pool({ spec: { disruption: { consolidateAfter: '0s' } } });
  await room.deployment('web', { replicas: 12, cpu: '1500m' });
  const story = new AbortController();
  let looks = 0;
  const looking = (async () => {
    while (!story.signal.aborted) {
      const { findings, checks } = await examined();
      looks += 1;
      expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
      expect(checks.filter(({ outcome }) => outcome === 'clear').length).toBeGreaterThan(20);
    }
  })();
  try {
    await room.runs('web', 12);
    await room.initializedNodes();
    await room.scale('web', 0);
    await room.until('no node and no claim is left', async () => {
      expect(await room.nodes()).toEqual([]);
      expect(await room.claims()).toEqual([]);
    });
  } finally {
    story.abort();
    await looking;
  }
  expect(looks).toBeGreaterThan(3);
});
