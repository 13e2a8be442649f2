// The AWS provider keeps the contract of the Cloud port, on the emulated EC2.
import { label, type NodePool } from '../../../src/api/index.ts';
import { cloudContract } from '../../contract/cloud.ts';
import { startAwsEmulator } from '../../setup/aws-emulator.ts';
import { among, cheap, claimFor, launchAccount } from './launch-account.ts';

cloudContract('EC2', async () => {
  const emulator = await startAwsEmulator();
  const account = await launchAccount(emulator);
  return {
    cloud: account.cloud,
    pool: {
      metadata: { name: 'default' },
      spec: { template: { spec: { nodeClassRef: { name: 'default' } } } },
    } as NodePool,
    claim: (name) => claimFor(name),
    impossibleClaim: (name) => claimFor(name, [...cheap, among(label.zone, 'mars')]),
    settle: async () => {},
    tearDown: async () => {
      account.stop();
      await emulator.stop();
    },
  };
});
