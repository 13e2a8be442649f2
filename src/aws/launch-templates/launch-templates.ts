// The launch templates there are in EC2, as far as this process uses them. A template is made when a launch first needs
// it and deleted when none has for a minute; those that a former process left are taken over, so that they end too.
//
// Promises:
// 1. However many launches need a template at once, it is looked up and created once.
// 2. A template is not deleted while it is in use: using it starts its minute again, and a launch that needs one which is
//    just being deleted waits and makes it anew.
// 3. `forget` only forgets: the template was deleted by someone else.
import {
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeLaunchTemplatesCommand,
  type EC2Client,
  type Filter,
} from '@aws-sdk/client-ec2';
import { awsTag } from '../../api/index.ts';
import type { Clock, Timer } from '../../base/index.ts';
import type { Gauge, Log, Metrics } from '../../ports/index.ts';
import { awsErrorCode, isAwsNotFound } from '../aws-errors.ts';
import { allPages } from '../paging.ts';
import { tagMap } from '../tags.ts';
import { type LaunchTemplateSpec, launchTemplateInput } from './launch-template.ts';
import { launchTemplateName, templateNamePrefix } from './template-name.ts';

export interface LaunchTemplatesOptions {
  ec2: EC2Client;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  clusterName: string;
}

const keepMs = 60_000;
const pageSize = 200;
/** EC2 refuses user data above 16,384 bytes; from nine tenths on it is worth a word. */
const largeUserDataBytes = 14_745;

export class LaunchTemplates {
  private readonly options: LaunchTemplatesOptions;
  private readonly userDataBytes: Gauge;
  private readonly kept = new Map<string, Timer>();
  private readonly making = new Map<string, Promise<void>>();
  private readonly deleting = new Map<string, Promise<void>>();
  private isDisposed = false;

  constructor(options: LaunchTemplatesOptions) {
    this.options = options;
    this.userDataBytes = options.metrics.gauge({
      name: 'karpenter_ec2nodeclasses_userdata_bytes',
      help: 'Size of the user data last rendered for a node class; EC2 takes at most 16384 bytes.',
      labels: ['nodeclass'],
    });
  }

  /** The name of a template with this content that exists in EC2. `render` makes the user data, in base64. */
  async ensure(spec: LaunchTemplateSpec, render: () => string | Promise<string>): Promise<string> {
    const name = launchTemplateName(spec);
    await this.deleting.get(name);
    if (this.kept.has(name)) {
      this.keep(name);
      return name;
    }
    let made = this.making.get(name);
    if (made === undefined) {
      made = this.make(name, spec, render).finally(() => this.making.delete(name));
      this.making.set(name, made);
    }
    await made;
    this.keep(name);
    return name;
  }

  forget(name: string): void {
    this.kept.get(name)?.dispose();
    this.kept.delete(name);
  }

  /** Takes over what is there already. */
  async hydrate(): Promise<void> {
    const tags = { [awsTag.clusterName]: this.options.clusterName };
    for (const name of await this.namesOf(tags)) if (!this.kept.has(name)) this.keep(name);
  }

  /** Deletes every template of a node class. */
  async deleteFor(nodeClassName: string): Promise<void> {
    const tags = { [awsTag.clusterName]: this.options.clusterName, [awsTag.nodeClass]: nodeClassName };
    for (const name of await this.namesOf(tags)) {
      this.forget(name);
      await this.delete(name);
    }
    this.userDataBytes.remove({ nodeclass: nodeClassName });
  }

  /** Leaves the templates to the next process. */
  dispose(): void {
    this.isDisposed = true;
    for (const name of this.kept.keys()) this.forget(name);
  }

  private async make(name: string, spec: LaunchTemplateSpec, render: () => string | Promise<string>): Promise<void> {
    const { ec2, log } = this.options;
    try {
      const { LaunchTemplates: found = [] } = await ec2.send(
        new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [name] }),
      );
      if (found.some((template) => template.LaunchTemplateName === name)) return;
    } catch (error) {
      if (!isAwsNotFound(error)) throw error;
    }
    const userData = await render();
    this.measure(spec.nodeClassName, userData);
    try {
      await ec2.send(new CreateLaunchTemplateCommand(launchTemplateInput(name, spec, userData)));
      log.debug('created launch template', { 'launch-template-name': name });
    } catch (error) {
      // Another replica was quicker; equal names have equal content.
      if (awsErrorCode(error) !== 'InvalidLaunchTemplateName.AlreadyExistsException') throw error;
    }
  }

  private measure(nodeclass: string, userData: string): void {
    const bytes = Buffer.from(userData, 'base64').length;
    this.userDataBytes.set(bytes, { nodeclass });
    if (bytes < largeUserDataBytes) return;
    this.options.log.info('user data is close to the limit of EC2', { EC2NodeClass: { name: nodeclass }, bytes });
  }

  private keep(name: string): void {
    this.forget(name);
    if (this.isDisposed) return;
    this.kept.set(
      name,
      this.options.clock.after(keepMs, () => this.expire(name)),
    );
  }

  private expire(name: string): void {
    this.kept.delete(name);
    const { log } = this.options;
    const deleted = this.delete(name)
      .catch((error: unknown) => log.error('could not delete launch template', error, { 'launch-template-name': name }))
      .finally(() => this.deleting.delete(name));
    this.deleting.set(name, deleted);
  }

  private async delete(name: string): Promise<void> {
    try {
      await this.options.ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: name }));
      this.options.log.debug('deleted launch template', { 'launch-template-name': name });
    } catch (error) {
      if (!isAwsNotFound(error)) throw error;
    }
  }

  /** Of our templates with these tags; tags in the answer are looked at again, as deletions depend on it. */
  private async namesOf(tags: Readonly<Record<string, string>>): Promise<string[]> {
    const names: string[] = [];
    const Filters = Object.entries(tags).map(([key, value]): Filter => ({ Name: `tag:${key}`, Values: [value] }));
    const pages = allPages((next) =>
      this.options.ec2.send(new DescribeLaunchTemplatesCommand({ Filters, MaxResults: pageSize, ...next })),
    );
    for await (const { LaunchTemplates: templates = [] } of pages) {
      for (const { LaunchTemplateName: name = '', Tags } of templates) {
        const found = tagMap(Tags);
        const isMeant = Tags === undefined || Object.entries(tags).every(([key, value]) => found[key] === value);
        if (isMeant && name.startsWith(templateNamePrefix)) names.push(name);
      }
    }
    return names;
  }
}
