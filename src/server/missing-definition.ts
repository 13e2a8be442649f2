// The first thing that goes wrong in a new cluster: no one installed our definitions. The API server says "404 page not
// found" then, which helps no one.
import { kinds } from '../api/index.ts';
import { isKubeError, type Resource } from '../ports/index.ts';

/** What to do about a resource of ours that the server does not know; nothing for every other failure. */
export function whatToInstall(
  error: unknown,
  { group, plural }: Pick<Resource, 'group' | 'plural'>,
): { hint?: string } {
  const isOurs = kinds.some((kind) => kind.group === group && kind.plural === plural);
  if (!isOurs || !isKubeError(error) || error.status !== 404) return {};
  return {
    hint: `the cluster has no CustomResourceDefinition ${plural}.${group}: run kerf crds | kubectl apply --server-side -f -`,
  };
}
