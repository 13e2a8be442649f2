// Launch templates: moto stores them well; put right here are the size limit of user data, pages, and how a template that
// does not exist is named.
import { type AwsAnswer, type AwsCall, AwsRefusal, ec2Answer } from '../exchange.ts';
import { type FormTree, formText, formTexts } from '../form.ts';
import type { World } from '../world.ts';
import { childOf, element, itemsOf, textOf, type XmlElement } from '../xml.ts';
import { dryRunSucceeded, ec2Page, isDryRun } from './filters.ts';
import { tokenOf } from './instance-types.ts';

/** Of the decoded bytes. */
const userDataLimit = 16_384;

export async function createLaunchTemplate(call: AwsCall): Promise<undefined> {
  const userData = formText(call.form, 'LaunchTemplateData', 'UserData');
  if (userData !== undefined && Buffer.from(userData, 'base64').length > userDataLimit) {
    throw new AwsRefusal('InvalidUserData.Malformed', `User data is limited to ${userDataLimit} bytes`);
  }
}

export async function describeLaunchTemplates(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const { MaxResults: _, NextToken: __, Action: ___, Version: ____, ...parameters } = call.form;
  const answer = await world.upstream.ask(call, 'DescribeLaunchTemplates', parameters);
  const found = itemsOf(answer, 'launchTemplates');
  for (const id of formTexts(call.form, 'LaunchTemplateId')) {
    if (!found.some((template) => textOf(template, 'launchTemplateId') === id)) throw unknownTemplateId(id);
  }
  const page = ec2Page(call, found, 200);
  return ec2Answer(call, [element('launchTemplates', page.items), tokenOf(page.nextToken)]);
}

export async function deleteLaunchTemplate(call: AwsCall, world: World): Promise<undefined> {
  await findTemplate(call, world, call.form);
}

/** The template's data, as DescribeLaunchTemplateVersions shows it. */
export async function templateData(
  call: AwsCall,
  world: World,
  specification: FormTree,
): Promise<{ id: string; name: string; version: string; data: XmlElement }> {
  const found = await findTemplate(call, world, specification);
  const id = textOf(found, 'launchTemplateId') ?? '';
  const answer = await world.upstream.ask(call, 'DescribeLaunchTemplateVersions', {
    LaunchTemplateId: id,
    LaunchTemplateVersion: { 1: formText(specification, 'Version') ?? '$Default' },
  });
  const [version] = itemsOf(answer, 'launchTemplateVersionSet');
  if (version === undefined) {
    throw new AwsRefusal('InvalidLaunchTemplateId.VersionNotFound', `Could not find the version of template '${id}'`);
  }
  return {
    id,
    name: textOf(found, 'launchTemplateName') ?? '',
    version: textOf(version, 'versionNumber') ?? '1',
    data: childOf(version, 'launchTemplateData') ?? element('launchTemplateData'),
  };
}

async function findTemplate(call: AwsCall, world: World, wanted: FormTree): Promise<XmlElement> {
  const name = formText(wanted, 'LaunchTemplateName');
  const id = formText(wanted, 'LaunchTemplateId') ?? '';
  const parameters: FormTree =
    name === undefined ? { LaunchTemplateId: { 1: id } } : { LaunchTemplateName: { 1: name } };
  const answer = await world.upstream.ask(call, 'DescribeLaunchTemplates', parameters);
  const [found] = itemsOf(answer, 'launchTemplates');
  if (found !== undefined) return found;
  throw name === undefined ? unknownTemplateId(id) : unknownTemplateName(name);
}

function unknownTemplateId(id: string): AwsRefusal {
  return new AwsRefusal(
    'InvalidLaunchTemplateId.NotFound',
    `The specified launch template, with ID ${id}, does not exist.`,
  );
}

function unknownTemplateName(name: string): AwsRefusal {
  return new AwsRefusal(
    'InvalidLaunchTemplateName.NotFoundException',
    `The specified launch template, with template name ${name}, does not exist.`,
  );
}
