// Who is in charge: by the Lease while it is held, by the image otherwise.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/index.ts';
import type { PreflightObject } from './input.ts';
import { runningIn } from './running.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const lease = (spec: object, annotations: object = {}) =>
  ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'karpenter-leader-election', namespace: 'kube-system', annotations },
    spec,
  }) as PreflightObject;
const deployment = (image: string) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'karpenter', namespace: 'kube-system' },
    spec: { template: { spec: { containers: [{ image }] } } },
  }) as unknown as PreflightObject;
const karpenter = deployment('public.ecr.aws/karpenter/controller:1.14.1');
const kerfs = { 'kerf/holder': 'me' };
const renewed = (time: string) => ({ holderIdentity: 'me', acquireTime: time, renewTime: time });

describe('the program in charge', () => {
  test('is the one that holds the Lease, whatever its image is called', () => {
    const held = lease(renewed('2026-01-01T11:59:50.000000Z'), kerfs);
    expect(runningIn([deployment('mirror/karpenter:0.1.0'), held], nowMs).running.program).toBe('kerf');
    expect(runningIn([karpenter, lease(renewed('2026-01-01T11:59:50.000000Z'))], nowMs).running.program).toBe(
      'karpenter',
    );
  });

  test('is not one whose Lease was not renewed for minutes; files are as old as they are', () => {
    const old = lease(renewed('2026-01-01T11:50:00.000000Z'), kerfs);
    expect(runningIn([karpenter, old], nowMs).running).toMatchObject({ program: 'karpenter', version: '1.14.1' });
    expect(runningIn([karpenter, old]).running.program).toBe('kerf');
    expect(runningIn([old], nowMs).running.program).toBe('none');
  });

  test('is Karpenter where Kerf gave the Lease back and only its settings are left on it', () => {
    const left = lease(
      { holderIdentity: '', renewTime: '2026-01-01T11:59:50.000000Z' },
      { ...kerfs, [annotation.controllerSettings]: '{}' },
    );
    expect(runningIn([karpenter, left], nowMs).running.program).toBe('karpenter');
    expect(runningIn([left], nowMs).running.program).toBe('kerf');
  });
});
