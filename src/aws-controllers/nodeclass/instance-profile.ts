// InstanceProfileReady: the profile instances get their role from, the user's own or one made for spec.role. It is never
// set to False: when IAM refuses, what was known stays, and the reconcile fails.
import { conditionType } from '../../api/index.ts';
import { bareRoleName, type InstanceProfiles, tagProblem } from '../../aws/index.ts';
import type { Draft, Step } from './draft.ts';

export function instanceProfileStep(profiles: InstanceProfiles): Step {
  const wanted = async ({ nodeClass, status }: Draft): Promise<string> => {
    const { instanceProfile, role = '' } = nodeClass.spec;
    if (instanceProfile !== undefined) return instanceProfile;
    const present = status.instanceProfile;
    const attached = present === undefined ? undefined : (await profiles.get(present))?.role;
    // IAM names a role without its path.
    if (present !== undefined && attached !== undefined && bareRoleName(attached) === bareRoleName(role))
      return present;
    const made = await profiles.create(nodeClass, role);
    profiles.protect(made);
    return made;
  };
  return async (draft) => {
    // Validation tells it; IAM is not asked.
    if (tagProblem(draft.nodeClass.spec) !== undefined) return undefined;
    const before = draft.status.instanceProfile;
    const after = await wanted(draft);
    // Instances may be on their way with the old one.
    if (before !== undefined && before !== after) profiles.protect(before);
    draft.update({ instanceProfile: after });
    draft.set({ type: conditionType.instanceProfileReady, status: 'True' });
    return undefined;
  };
}
