import { expect, test } from 'vitest';
import { KubeError, resources } from '../ports/index.ts';
import { whatToInstall } from './missing-definition.ts';

const notFound = new KubeError({ status: 404, reason: 'NotFound', message: '404 page not found' });
const pools = { group: 'karpenter.sh', plural: 'nodepools' };

test('a kind of ours that the cluster does not know is reported with the command that installs it', () => {
  expect(whatToInstall(notFound, pools).hint).toContain('nodepools.karpenter.sh: run kerf crds | kubectl apply');
});

test('other failures, and kinds that are not ours, are left alone', () => {
  expect(whatToInstall(new KubeError({ status: 403, reason: 'Forbidden', message: 'no' }), pools)).toEqual({});
  expect(whatToInstall(notFound, resources.pods)).toEqual({});
  expect(whatToInstall(new Error('cut'), pools)).toEqual({});
});
