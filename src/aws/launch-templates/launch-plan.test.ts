import { expect, test } from 'vitest';
import { annotation, type EC2NodeClass } from '../../api/index.ts';
import { type } from '../instance-types/instance-types.testing.ts';
import { templatesFor } from './launch-plan.testing.ts';

/** EFA interfaces of a p5.48xlarge launched for a claim with these parts. */
const interfacesFor = (claim: object, spec: Partial<EC2NodeClass['spec']> = {}): number[] =>
  templatesFor({ types: [type('p5.48xlarge')], nodeClass: { spec }, claim }).map((each) => each.spec.efaCount);
const drivers = (text: string) => ({ metadata: { annotations: { [annotation.requestedDraDrivers]: text } } });

test('EFA interfaces are attached for claims that ask for the resource or were planned with DRANET devices', () => {
  expect(interfacesFor({})).toEqual([0]);
  const requests = { 'vpc.amazonaws.com/efa': '1' };
  expect(interfacesFor({ spec: { requirements: [], resources: { requests } } })).toEqual([32]);
  expect(interfacesFor(drivers('dra.net,gpu.nvidia.com'))).toEqual([32]);
  expect(interfacesFor(drivers('gpu.nvidia.com'))).toEqual([0]);
});

test('a class that lays out its interfaces itself gets no others', () => {
  const networkInterfaces = [{ networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' as const }];
  expect(interfacesFor(drivers('dra.net'), { networkInterfaces })).toEqual([0]);
});

test('a machine has enclaves where the class says so, and else where the claim names their resource, be it with zero', () => {
  const enclave = (requests: Record<string, string>, spec: Partial<EC2NodeClass['spec']> = {}): boolean[] =>
    templatesFor({
      types: [type('m5.xlarge')],
      nodeClass: { spec },
      claim: { spec: { requirements: [], resources: { requests } } },
    }).map((each) => each.spec.enclave);
  expect(enclave({})).toEqual([false]);
  expect(enclave({ 'eks.amazonaws.com/nip-slots': '0' })).toEqual([true]);
  expect(enclave({ 'eks.amazonaws.com/nitro-sandbox': '1' })).toEqual([true]);
  expect(enclave({}, { enclaveOptions: { enabled: true } })).toEqual([true]);
  expect(enclave({ 'eks.amazonaws.com/nitro-sandbox': '1' }, { enclaveOptions: { enabled: false } })).toEqual([false]);
});
