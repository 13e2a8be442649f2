// Instance profiles in IAM, as far as we make and delete them. A profile is never pointed at another role: EC2 keeps
// believing the old one for a while, so a changed role gets a new profile, and old ones are collected when nothing uses
// them any more.
//
// Promises:
// 1. A profile that could not be given its role is deleted again.
// 2. A role that does not exist is not asked for again within a minute.
// 3. A profile just made or just replaced is protected from collection for an hour: instances may still be launching
//    with it.
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  type IAMClient,
  type InstanceProfile,
  ListInstanceProfilesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap, KerfError, messageOf } from '../../base/index.ts';
import { awsErrorCode, isAlreadyThere, isAwsNotFound } from '../aws-errors.ts';
import { allPages } from '../paging.ts';
import {
  bareRoleName,
  classPath,
  clusterPath,
  isValidProfileName,
  legacyProfileName,
  type ProfileScope,
  profileName,
  profileTags,
} from './profile-names.ts';

export interface InstanceProfilesOptions extends ProfileScope {
  iam: IAMClient;
  clock: Clock;
  /** Anything that never repeats. */
  unique: () => string;
}

export interface ProfileFacts {
  name: string;
  /** A profile has one role or none. */
  role?: string;
}

const minuteMs = 60_000;

export class InstanceProfiles {
  private readonly options: InstanceProfilesOptions;
  private readonly known: ExpiringMap<string, ProfileFacts>;
  private readonly missingRoles: ExpiringMap<string, true>;
  /** Made lately, by role and class: a status that could not be written must not make a second one. */
  private readonly lately: ExpiringMap<string, string>;
  private readonly protected: ExpiringMap<string, true>;

  constructor(options: InstanceProfilesOptions) {
    this.options = options;
    this.known = new ExpiringMap(options.clock, 15 * minuteMs);
    this.missingRoles = new ExpiringMap(options.clock, minuteMs);
    this.lately = new ExpiringMap(options.clock, minuteMs);
    this.protected = new ExpiringMap(options.clock, 60 * minuteMs);
  }

  /** Undefined if there is none of that name. */
  async get(name: string): Promise<ProfileFacts | undefined> {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    try {
      const { InstanceProfile: profile } = await this.options.iam.send(
        new GetInstanceProfileCommand({ InstanceProfileName: name }),
      );
      const facts = factsOf(name, profile);
      this.known.set(name, facts);
      return facts;
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw new KerfError(
        'InstanceProfileUnknown',
        `getting instance profile, ${messageOf(error)}${ifDenied(error, 'iam:GetInstanceProfile')}`,
        {
          subject: `instance profile ${name}`,
          retryable: true,
          cause: error,
        },
      );
    }
  }

  /** The name of a profile with that role, new unless one was made within the minute. */
  async create(nodeClass: EC2NodeClass, role: string): Promise<string> {
    const lately = `${role} ${nodeClass.metadata.uid}`;
    const made = this.lately.get(lately);
    if (made !== undefined) return made;
    if (this.missingRoles.has(role)) throw roleNotFound(role);
    const name = profileName(this.options, nodeClass.metadata.name ?? '', this.options.unique());
    try {
      await this.make(name, nodeClass, role);
    } catch (error) {
      await this.delete(name).catch(() => undefined);
      if (isAwsNotFound(error) && messageOf(error).toLowerCase().includes('role')) {
        this.missingRoles.set(role, true);
        throw roleNotFound(role, error);
      }
      throw new KerfError(
        'InstanceProfileNotMade',
        `creating instance profile, ${messageOf(error)}${ifDenied(error, `iam:CreateInstanceProfile, TagInstanceProfile, AddRoleToInstanceProfile, and iam:PassRole for ${role}`)}`,
        {
          subject: `instance profile ${name}`,
          retryable: true,
          cause: error,
        },
      );
    }
    this.known.set(name, { name, role });
    this.lately.set(lately, name);
    return name;
  }

  private async make(name: string, nodeClass: EC2NodeClass, role: string): Promise<void> {
    const { iam } = this.options;
    const tags = Object.entries(profileTags(this.options, nodeClass)).map(([Key, Value]) => ({ Key, Value }));
    const wanted = bareRoleName(role);
    try {
      await iam.send(
        new CreateInstanceProfileCommand({
          InstanceProfileName: name,
          Path: classPath(this.options, nodeClass),
          Tags: tags,
        }),
      );
    } catch (error) {
      if (!isAlreadyThere(error)) throw error;
      const attached = (await this.get(name))?.role;
      if (attached === wanted) return;
      if (attached !== undefined) await this.detach(name, attached);
    }
    await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: name, RoleName: wanted }));
  }

  /** Deletes it if it is there; in use or not, instances keep what they were launched with. */
  async delete(name: string): Promise<void> {
    this.known.delete(name);
    const profile = await this.get(name);
    if (profile !== undefined) {
      if (profile.role !== undefined) await this.detach(name, profile.role);
      try {
        await this.options.iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName: name }));
      } catch (error) {
        if (!isAwsNotFound(error)) throw error;
      }
    }
    this.known.delete(name);
    this.protected.delete(name);
    for (const [key, made] of this.lately.entries()) if (made === name) this.lately.delete(key);
  }

  private async detach(name: string, role: string): Promise<void> {
    const input = { InstanceProfileName: name, RoleName: role };
    try {
      await this.options.iam.send(new RemoveRoleFromInstanceProfileCommand(input));
    } catch (error) {
      if (!isAwsNotFound(error)) throw error;
    }
    this.known.delete(name);
  }

  /** Every profile of a class, that of older versions included. */
  async deleteAllOf(nodeClass: EC2NodeClass): Promise<void> {
    const legacy = legacyProfileName(this.options, nodeClass.metadata.name ?? '');
    const names = await this.listUnder(classPath(this.options, nodeClass));
    // A name IAM would refuse cannot have been made.
    for (const name of isValidProfileName(legacy) ? [...names, legacy] : names) await this.delete(name);
  }

  /** Names of all profiles of the cluster. */
  list(): Promise<string[]> {
    return this.listUnder(clusterPath(this.options));
  }

  private async listUnder(path: string): Promise<string[]> {
    const names: string[] = [];
    const pages = allPages(async ({ NextToken: Marker }) => {
      const input = { PathPrefix: path, ...(Marker === undefined ? {} : { Marker }) };
      const page = await this.options.iam.send(new ListInstanceProfilesCommand(input));
      return { ...page, NextToken: page.Marker };
    });
    for await (const page of pages) {
      for (const { InstanceProfileName: name, Path } of page.InstanceProfiles ?? []) {
        // What is listed here may be deleted: the path is looked at again, whatever the filter did.
        if (name !== undefined && Path?.startsWith(path) === true) names.push(name);
      }
    }
    return names;
  }

  protect(name: string): void {
    this.protected.set(name, true);
  }

  isProtected(name: string): boolean {
    return this.protected.has(name);
  }
}

/** Which rights the controller lacks, when that is what IAM says. */
const ifDenied = (error: unknown, rights: string): string =>
  awsErrorCode(error)?.startsWith('AccessDenied') === true
    ? `; allow the controller's role ${rights} (kerf iam policy prints its policies)`
    : '';

function factsOf(name: string, profile: InstanceProfile | undefined): ProfileFacts {
  const role = profile?.Roles?.[0]?.RoleName;
  return role === undefined ? { name } : { name, role };
}

const roleNotFound = (role: string, cause?: unknown): KerfError =>
  new KerfError('RoleNotFound', `role not found, ${role}: create it or correct spec.role`, { retryable: true, cause });
