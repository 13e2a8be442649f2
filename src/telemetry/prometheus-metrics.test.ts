import { expect, test } from 'vitest';
import { durationBuckets, prometheusMetrics } from './prometheus-metrics.ts';

test('there are 45 duration buckets from 5 ms to 600 s, each larger than the one before', () => {
  expect(durationBuckets).toHaveLength(45);
  expect([durationBuckets[0], durationBuckets.at(-1)]).toEqual([0.005, 600]);
  expect([...durationBuckets].sort((a, b) => a - b)).toEqual(durationBuckets);
});

test('defining a metric twice returns the same metric', async () => {
  const metrics = prometheusMetrics();
  const definition = { name: 'karpenter_nodes_created_total', help: 'Nodes created.', labels: ['nodepool'] };
  metrics.counter(definition).add({ nodepool: 'a' });
  metrics.counter(definition).add({ nodepool: 'a' }, 2);
  expect(await metrics.render()).toContain('karpenter_nodes_created_total{nodepool="a"} 3');
});

test('an absent label renders as an empty value', async () => {
  const metrics = prometheusMetrics();
  metrics.gauge({ name: 'g', help: 'g', labels: ['a', 'b'] }).set(1, { a: 'x' });
  expect(await metrics.render()).toContain('g{a="x",b=""} 1');
});

test('a gauge removes every series that has the given labels', async () => {
  const metrics = prometheusMetrics();
  const gauge = metrics.gauge({ name: 'g', help: 'g', labels: ['node', 'resource'] });
  gauge.set(1, { node: 'n1', resource: 'cpu' });
  gauge.set(2, { node: 'n1', resource: 'memory' });
  gauge.set(3, { node: 'n2', resource: 'cpu' });
  gauge.remove({ node: 'n1' });
  const text = await metrics.render();
  expect(text).not.toContain('n1');
  expect(text).toContain('g{node="n2",resource="cpu"} 3');
  gauge.reset();
  expect(await metrics.render()).not.toContain('n2');
});

test('a gauge removes exactly one series when all labels are given', async () => {
  const metrics = prometheusMetrics();
  const gauge = metrics.gauge({ name: 'g', help: 'g', labels: ['node', 'resource'] });
  gauge.set(1, { node: 'n1', resource: 'cpu' });
  gauge.set(2, { node: 'n1', resource: 'memory' });
  gauge.remove({ node: 'n1', resource: 'cpu' });
  gauge.remove({ node: 'n2', resource: 'cpu' });
  const text = await metrics.render();
  expect(text).not.toContain('resource="cpu"');
  expect(text).toContain('g{node="n1",resource="memory"} 2');
});

test('histograms and summaries observe', async () => {
  const metrics = prometheusMetrics();
  metrics.histogram({ name: 'h', help: 'h' }).observe(0.3);
  metrics.summary({ name: 's', help: 's', labels: ['nodepool'] }).observe(2, { nodepool: 'a' });
  const text = await metrics.render();
  expect(text).toContain('h_bucket{le="0.3"} 1');
  expect(text).toMatch(/s_count\{nodepool="a"\} 1/);
});

test('process figures are served when asked for', async () => {
  expect(await prometheusMetrics({ processMetrics: true }).render()).toContain('process_resident_memory_bytes');
});

test('very small and very large bounds are written with an exponent, as other clients write them', async () => {
  const metrics = prometheusMetrics();
  const buckets = [1e-8, 0.00001, 0.0001, 0.5, 864_000, 1_296_000];
  metrics.histogram({ name: 'h', help: 'x', buckets }).observe(1);
  const bounds = [...(await metrics.render()).matchAll(/le="([^"]+)"/g)].map(([, bound]) => bound);
  expect(bounds).toEqual(['1e-08', '1e-05', '0.0001', '0.5', '864000', '1.296e+06', '+Inf']);
});
