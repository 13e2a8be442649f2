// RunInstances as a dry run: moto says yes to anything, EC2 looks at what the request names.
import { type AwsAnswer, type AwsCall, AwsRefusal } from '../exchange.ts';
import { formText, formTree, formTrees } from '../form.ts';
import type { World } from '../world.ts';
import { textOf } from '../xml.ts';
import { dryRunSucceeded, isDryRun } from './filters.ts';
import { profileOf, requireProfile } from './fleet.ts';
import { templateData } from './launch-templates.ts';
import { subnetsById } from './subnets.ts';

export async function runInstances(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  if (!isDryRun(call)) return undefined;
  const specification = formTree(call.form, 'LaunchTemplate');
  const hasTemplate = Object.keys(specification).length > 0;
  const template = hasTemplate ? await templateData(call, world, specification) : undefined;
  const subnets = [
    formText(call.form, 'SubnetId'),
    ...formTrees(call.form, 'NetworkInterface').map((item) => formText(item, 'SubnetId')),
  ].filter((id) => id !== undefined);
  if (subnets.length > 0) await subnetsById(call, world, subnets);
  const imageId = formText(call.form, 'ImageId') ?? textOf(template?.data, 'imageId');
  if (imageId !== undefined && !world.images.has(imageId)) {
    throw new AwsRefusal('InvalidAMIID.NotFound', `The image id '[${imageId}]' does not exist`);
  }
  const profile =
    formText(call.form, 'IamInstanceProfile', 'Name') ??
    (template === undefined ? undefined : formText(profileOf({ template }), 'Name'));
  if (profile !== undefined) await requireProfile(call, world, profile);
  throw dryRunSucceeded();
}
