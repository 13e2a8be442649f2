// Instance profiles in memory behind a real IAM client's `send`, for tests.

import type { IAMClient } from '@aws-sdk/client-iam';
import { awsRefusal, type Fake, fakeIam } from '../fake-client.testing.ts';

export interface MemoryProfile {
  path: string;
  roles: string[];
  tags: Record<string, string>;
}

export interface MemoryIam extends Fake<IAMClient> {
  profiles: Map<string, MemoryProfile>;
  /** Roles that do not exist. */
  missingRoles: Set<string>;
  /** How often an action was called. */
  count(action: string): number;
}

interface Input {
  InstanceProfileName: string;
  RoleName: string;
  Path?: string;
  PathPrefix: string;
  Tags?: { Key: string; Value: string }[];
}

export function memoryIam(): MemoryIam {
  const profiles = new Map<string, MemoryProfile>();
  const missingRoles = new Set<string>();
  const profileOf = (name: string): MemoryProfile => {
    const found = profiles.get(name);
    if (found === undefined) throw awsRefusal('NoSuchEntity', `Instance Profile ${name} cannot be found.`, 404);
    return found;
  };
  const described = (name: string, { path, roles }: MemoryProfile) => ({
    InstanceProfileName: name,
    Path: path,
    Roles: roles.map((RoleName) => ({ RoleName })),
  });
  const fake = fakeIam({
    GetInstanceProfile: ({ InstanceProfileName: name }: Input) => ({
      InstanceProfile: described(name, profileOf(name)),
    }),
    CreateInstanceProfile: ({ InstanceProfileName: name, Path: path = '/', Tags: tags = [] }: Input) => {
      if (profiles.has(name)) throw awsRefusal('EntityAlreadyExists', `${name} already exists`, 409);
      profiles.set(name, { path, roles: [], tags: Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value])) });
      return {};
    },
    AddRoleToInstanceProfile: ({ InstanceProfileName: name, RoleName: role }: Input) => {
      const { roles } = profileOf(name);
      if (missingRoles.has(role)) throw awsRefusal('NoSuchEntity', `The role with name ${role} cannot be found.`, 404);
      if (roles.length > 0)
        throw awsRefusal('LimitExceeded', 'Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1', 409);
      roles.push(role);
      return {};
    },
    RemoveRoleFromInstanceProfile: ({ InstanceProfileName: name, RoleName: role }: Input) => {
      const profile = profileOf(name);
      profile.roles = profile.roles.filter((each) => each !== role);
      return {};
    },
    DeleteInstanceProfile: ({ InstanceProfileName: name }: Input) => {
      if (profileOf(name).roles.length > 0) throw awsRefusal('DeleteConflict', 'must remove roles first', 409);
      profiles.delete(name);
      return {};
    },
    ListInstanceProfiles: ({ PathPrefix: prefix }: Input) => ({
      InstanceProfiles: [...profiles]
        .filter(([, { path }]) => path.startsWith(prefix))
        .map(([name, each]) => described(name, each)),
    }),
  });
  return {
    ...fake,
    profiles,
    missingRoles,
    count: (action) => fake.calls.filter((call) => call.action === action).length,
  };
}
