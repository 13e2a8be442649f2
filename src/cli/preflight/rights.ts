// Whether the service account of today may do what Kerf needs: the table of rights, line by line, asked of the API server.
import { circumstancesOf, defaultLeaseName, type Right, rightsFor, type Settings } from '../../server/index.ts';
import type { AskedRight, PreflightInput } from './input.ts';
import type { Running } from './report.ts';

export interface RightsFound {
  missing: string[];
  notChecked: string[];
}

export interface RightsQuestion {
  running: Pick<Running, 'serviceAccount' | 'deployment'>;
  /** Undefined when they could not be read: then only what is always needed is asked for. */
  settings: Settings | undefined;
  provider: 'aws' | 'kwok';
}

/** Asked at once; the client has a rate limit of its own. */
const atOnce = 16;

export async function missingRights(
  { mayDo }: Pick<PreflightInput, 'mayDo'>,
  { running, settings, provider }: RightsQuestion,
): Promise<RightsFound> {
  if (mayDo === undefined) return { missing: [], notChecked: [] };
  const { serviceAccount: user } = running;
  if (user === undefined)
    return { missing: [], notChecked: ['rights of the service account: no Deployment of a controller was found'] };
  const needed = rightsFor({
    circumstances: settings === undefined ? new Set([provider]) : circumstancesOf(settings, provider),
    lease: leaseOf(running, settings),
  });
  const questions = needed.flatMap(({ right, namespace }) => [...questionsOf(right, namespace)]);
  const missing = new Set<string>();
  for (let from = 0; from < questions.length; from += atOnce) {
    const asked = questions.slice(from, from + atOnce);
    const answers = await Promise.all(asked.map((each) => mayDo(user, each)));
    if (answers.includes(undefined))
      return {
        missing: [...missing],
        notChecked: ['rights of the service account: you may not create SubjectAccessReviews'],
      };
    for (const [at, right] of asked.entries()) if (answers[at] === false) missing.add(inWords(right));
  }
  return { missing: [...missing], notChecked: [] };
}

function leaseOf(
  { deployment = '' }: RightsQuestion['running'],
  settings: Settings | undefined,
): { name: string; namespace: string } {
  const [ownNamespace = ''] = deployment.split('/');
  return {
    name: settings?.leaderElectionName ?? defaultLeaseName,
    namespace: settings?.leaderElectionNamespace || ownNamespace,
  };
}

function* questionsOf({ group, resources, verbs, names }: Right, namespace: string | undefined): Generator<AskedRight> {
  for (const each of resources) {
    const [resource = '', subresource] = each.split('/');
    for (const verb of verbs) {
      for (const name of names ?? [undefined]) {
        yield {
          group,
          resource,
          verb,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        };
      }
    }
  }
}

function inWords({ verb, resource, subresource, group, namespace, name }: AskedRight): string {
  return [
    `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    ...(name === undefined ? [] : [name]),
    ...(group === '' ? [] : [`(${group})`]),
    ...(namespace === undefined ? [] : [`in ${namespace}`]),
  ].join(' ');
}
