// A cloud that does what a test tells it: launches fail or succeed, machines vanish, deletions take as long as asked. It
// never makes Nodes; tests let machines join by themselves.
import type { NodeClaim } from '../../api/index.ts';
import type { ProviderFacts } from '../../core/index.ts';
import { type Cloud, CloudError, type Instance, type RegistrationHook, type RepairPolicy } from '../../ports/index.ts';
import { kwokNodeClasses, kwokProviderFacts } from '../../sim/index.ts';

export class ScriptedCloud implements Cloud {
  readonly name = 'scripted';
  readonly facts: ProviderFacts = kwokProviderFacts();
  readonly nodeClasses = [kwokNodeClasses];
  readonly registrationHooks: RegistrationHook[] = [];
  readonly machines = new Map<string, Instance>();
  /** Names of the claims `create` was called for, in order. */
  readonly creations: string[] = [];
  /** Provider ids `delete` was called for, in order. */
  readonly deletions: string[] = [];
  listings = 0;
  createError: unknown;
  /** The machine is launched, but the answer is lost. */
  losesAnswers = false;
  deleteError: unknown;
  listError: unknown;
  /** How many deletions a machine outlives. */
  outlives = 0;
  /** What a launch says about the machine, beside its id. */
  facets: Partial<Instance> = {};
  /** Machines of others, with why they are not this cluster's. */
  readonly foreign = new Map<string, string>();
  /** What it thinks keeps machines from joining. */
  joinTrouble: () => Promise<string | undefined> = async () => undefined;

  async create(claim: NodeClaim): Promise<Instance> {
    const name = claim.metadata.name ?? '';
    this.creations.push(name);
    if (this.createError !== undefined) throw this.createError;
    const instance = this.launch(`scripted://${name}-${this.creations.length}`, name);
    if (this.losesAnswers) throw new Error('socket hang up');
    return instance;
  }

  launch(providerID: string, nodeClaim?: string): Instance {
    const instance: Instance = {
      providerID,
      imageID: 'image-1',
      labels: { 'topology.kubernetes.io/zone': 'zone-a', 'karpenter.sh/capacity-type': 'spot' },
      annotations: {},
      capacity: { cpu: '4', memory: '8Gi' },
      allocatable: { cpu: '3900m', memory: '7Gi' },
      ...this.facets,
      ...(nodeClaim === undefined ? {} : { nodeClaim }),
    };
    this.machines.set(providerID, instance);
    return instance;
  }

  whyNotJoined(): Promise<string | undefined> {
    return this.joinTrouble();
  }

  async whyForeign(providerID: string): Promise<string | undefined> {
    return this.foreign.get(providerID);
  }

  async delete(claim: NodeClaim): Promise<void> {
    const providerID = claim.status?.providerID ?? '';
    this.deletions.push(providerID);
    if (this.deleteError !== undefined) throw this.deleteError;
    await this.get(providerID);
    const calls = this.deletions.filter((each) => each === providerID).length;
    if (calls > this.outlives) this.machines.delete(providerID);
  }

  async get(providerID: string): Promise<Instance> {
    const instance = this.machines.get(providerID);
    if (instance === undefined) throw new CloudError('notFound', `no machine ${providerID}`);
    return instance;
  }

  async list(): Promise<Instance[]> {
    this.listings += 1;
    if (this.listError !== undefined) throw this.listError;
    return [...this.machines.values()];
  }

  async instanceTypes(): Promise<readonly []> {
    return [];
  }

  async driftReason(): Promise<undefined> {
    return undefined;
  }

  repairPolicies(): readonly RepairPolicy[] {
    return [];
  }
}
