// Whether the service account of today may do what Kerf needs: the table of rights, line by line, asked of the API server.
import { awsGroup } from '../../api/names.ts';
import { clusterRights, type Right } from '../../server/index.ts';
import type { PreflightInput } from './input.ts';

export interface RightsFound {
  missing: string[];
  notChecked: string[];
}

export async function missingRights(
  { objects, mayDo }: Pick<PreflightInput, 'objects' | 'mayDo'>,
  user: string | undefined,
  gates: readonly string[],
): Promise<RightsFound> {
  if (mayDo === undefined) return { missing: [], notChecked: [] };
  if (user === undefined)
    return { missing: [], notChecked: ['rights of the service account: no Deployment of a controller was found'] };
  const isAws = objects.some(({ apiVersion }) => apiVersion.startsWith(`${awsGroup}/`));
  const missing: string[] = [];
  for (const right of clusterRights.filter((each) => isNeeded(each, isAws, gates))) {
    for (const asked of questionsOf(right)) {
      const allowed = await mayDo(user, asked);
      if (allowed === undefined)
        return { missing, notChecked: ['rights of the service account: you may not create SubjectAccessReviews'] };
      if (!allowed)
        missing.push(
          `${asked.verb} ${asked.resource}${asked.subresource ? `/${asked.subresource}` : ''}${asked.group === '' ? '' : ` (${asked.group})`}`,
        );
    }
  }
  return { missing, notChecked: [] };
}

function isNeeded({ when }: Right, isAws: boolean, gates: readonly string[]): boolean {
  switch (when) {
    case undefined:
      return true;
    case 'aws':
      return isAws;
    case 'kwok':
      return !isAws;
    case 'nodeOverlay':
      return gates.includes('NodeOverlay');
    case 'capacityBuffer':
      return gates.includes('CapacityBuffer');
    case 'deletionCosts':
      return gates.includes('PodDeletionCostManagement');
    default:
      return false;
  }
}

function* questionsOf({ group, resources, verbs, names }: Right) {
  for (const each of resources) {
    const [resource = '', subresource] = each.split('/');
    for (const verb of verbs) {
      yield {
        group,
        resource,
        verb,
        ...(subresource === undefined ? {} : { subresource }),
        ...(names?.[0] === undefined ? {} : { name: names[0] }),
      };
    }
  }
}
