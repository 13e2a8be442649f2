// IAM: moto ignores PathPrefix and pages of ListInstanceProfiles, stumbles over removing a role that is not there, and names the
// service-linked role of spot by its own rule.

import { pageOf } from './ec2/filters.ts';
import { type AwsAnswer, type AwsCall, AwsRefusal, type Handler, xmlAnswer } from './exchange.ts';
import { formText } from './form.ts';
import type { World } from './world.ts';
import { childOf, element, itemsOf, textOf } from './xml.ts';

async function listInstanceProfiles(call: AwsCall, world: World): Promise<AwsAnswer> {
  const answer = await world.upstream.askIam(call, 'ListInstanceProfiles', {});
  const prefix = formText(call.form, 'PathPrefix') ?? '/';
  const found = itemsOf(answer, 'ListInstanceProfilesResult', 'InstanceProfiles').filter((profile) =>
    (textOf(profile, 'Path') ?? '/').startsWith(prefix),
  );
  const page = pageOf(found, formText(call.form, 'MaxItems'), formText(call.form, 'Marker'), 1000);
  const isTruncated = page.nextToken !== undefined;
  return xmlAnswer(
    200,
    element('ListInstanceProfilesResponse', [
      element('ListInstanceProfilesResult', [
        element(
          'InstanceProfiles',
          page.items.map((profile) => ({ ...profile, name: 'member' })),
        ),
        element('IsTruncated', isTruncated),
        isTruncated ? element('Marker', page.nextToken) : undefined,
      ]),
    ]),
  );
}

async function removeRoleFromInstanceProfile(call: AwsCall, world: World): Promise<undefined> {
  const name = formText(call.form, 'InstanceProfileName') ?? '';
  const role = formText(call.form, 'RoleName') ?? '';
  const answer = await world.upstream.askIam(call, 'GetInstanceProfile', { InstanceProfileName: name });
  const profile = childOf(answer, 'GetInstanceProfileResult', 'InstanceProfile');
  if (!itemsOf(profile, 'Roles').some((item) => textOf(item, 'RoleName') === role)) {
    throw new AwsRefusal('NoSuchEntity', `Role ${role} is not in instance profile ${name}.`, 404);
  }
}

/** The one for spot, under the name that AWS gives it. */
async function createServiceLinkedRole(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  const service = formText(call.form, 'AWSServiceName') ?? '';
  if (service !== 'spot.amazonaws.com') return undefined;
  const trust = { Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' };
  const answer = await world.upstream.askIam(call, 'CreateRole', {
    RoleName: 'AWSServiceRoleForEC2Spot',
    Path: `/aws-service-role/${service}/`,
    AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [trust] }),
  });
  const role = childOf(answer, 'CreateRoleResult', 'Role');
  return xmlAnswer(
    200,
    element('CreateServiceLinkedRoleResponse', [element('CreateServiceLinkedRoleResult', role ? [role] : [])]),
  );
}

export const iamHandlers: Record<string, Handler<World>> = {
  CreateServiceLinkedRole: createServiceLinkedRole,
  ListInstanceProfiles: listInstanceProfiles,
  RemoveRoleFromInstanceProfile: removeRoleFromInstanceProfile,
};
