// Who is in charge now, and in which version: the Deployment of the controller, and the Lease that says who leads.
import { annotation } from '../../api/names.ts';
import { defaultLeaseName } from '../../server/index.ts';
import { asList, asMap, asText } from '../manifests/index.ts';
import type { PreflightObject } from './input.ts';
import type { Finding, Running } from './report.ts';

/** The releases whose objects Kerf has taken over in tests, the oldest and the newest. */
export const triedVersions = { oldest: [1, 0], newest: [1, 15] } as const;

export interface Controller {
  deployment: PreflightObject;
  container: Record<string, unknown>;
}

/** The Deployment whose pods run Karpenter or Kerf: by what it is called, and by its image. */
export function controllersIn(objects: readonly PreflightObject[]): Controller[] {
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap((deployment) => {
      const template = asMap(asMap(asMap(deployment.spec)['template'])['spec']);
      const label = deployment.metadata.labels?.['app.kubernetes.io/name'];
      const container = asList(template['containers'])
        .map(asMap)
        .find(({ image }) => /karpenter|kerf/.test(String(image)) || label === 'karpenter');
      return container === undefined ? [] : [{ deployment, container }];
    });
}

/** A Lease that was not renewed for this long is held by a process that is gone. */
const lostLeaseMs = 120_000;

/** `nowMs` where the objects are those of now: only then a Lease can be seen to be old. */
export function runningIn(
  objects: readonly PreflightObject[],
  nowMs?: number,
): { running: Running; findings: Finding[] } {
  // A shadow runs beside the one in charge.
  const controllers = controllersIn(objects).filter(({ container }) => !isShadow(container));
  const lease = leaseIn(objects, nowMs);
  const findings: Finding[] = [];
  const [first, ...others] = controllers;
  if (others.length > 0)
    findings.push({
      level: 'stop',
      about: controllers.map(({ deployment }) => nameOf(deployment)).join(', '),
      text: 'more than one Deployment runs a controller: only one of them leads, and after the switch it may be the old one',
      fix: 'scale down all but the one that is replaced',
    });
  if (first === undefined) {
    const program = lease === undefined ? 'none' : lease.isKerf ? 'kerf' : 'karpenter';
    return { running: { program, ...(lease === undefined ? {} : { lease }) }, findings };
  }
  const image = String(first.container['image'] ?? '');
  const isKerf = /(^|[/-])kerf(?=[:@-]|$)/.test(image);
  // What Kerf once wrote on a Lease that no one holds says nothing against the image of the other.
  const isLeading = lease?.isKerf === true && (lease.holder !== '' || !/karpenter/.test(image));
  const program = isKerf || isLeading ? 'kerf' : 'karpenter';
  const version = versionOf(image);
  const serviceAccount = asText(asMap(asMap(asMap(first.deployment.spec)['template'])['spec'])['serviceAccountName']);
  if (program === 'karpenter') findings.push(...versionFindings(version, nameOf(first.deployment)));
  return {
    running: {
      program,
      ...(version === undefined ? {} : { version }),
      deployment: nameOf(first.deployment),
      image,
      ...(serviceAccount === undefined
        ? {}
        : { serviceAccount: `system:serviceaccount:${first.deployment.metadata.namespace}:${serviceAccount}` }),
      ...(lease === undefined ? {} : { lease }),
    },
    findings,
  };
}

function versionFindings(version: string | undefined, about: string): Finding[] {
  const [major, minor] = (/^v?(\d+)\.(\d+)/.exec(version ?? '') ?? []).slice(1).map(Number);
  if (major === undefined || minor === undefined)
    return [
      {
        level: 'look',
        about,
        text: `its image does not say which version of Karpenter it is (${version ?? 'no tag'})`,
        fix: `see that it is ${triedVersions.oldest.join('.')} or newer`,
      },
    ];
  if (major < 1)
    return [
      {
        level: 'stop',
        about,
        text: `Karpenter ${version} keeps its objects in an API older than v1, which Kerf does not read`,
        fix: 'go to Karpenter 1.x first; `kerf convert` rewrites the manifests',
      },
    ];
  if (major > 1 || minor > triedVersions.newest[1])
    return [
      {
        level: 'look',
        about,
        text: `Karpenter ${version} is newer than what Kerf was compared with (${triedVersions.newest.join('.')})`,
        fix: 'run a shadow beside it for a day first: docs/guide/switch.md',
      },
    ];
  return [];
}

/** The tag of an image, digest and registry port left out. */
function versionOf(image: string): string | undefined {
  return /:([^:/@]+)(?:@.*)?$/.exec(image)?.[1];
}

const nameOf = ({ metadata }: PreflightObject): string => `${metadata.namespace}/${metadata.name}`;

function isShadow(container: Record<string, unknown>): boolean {
  const args = asList(container['args']).map(String);
  const env = asList(container['env']).map(asMap);
  return (
    args.some((arg) => /^--shadow(=true)?$/.test(arg)) ||
    env.some(({ name, value }) => name === 'SHADOW' && value === 'true')
  );
}

function leaseIn(objects: readonly PreflightObject[], nowMs: number | undefined): Running['lease'] {
  const lease = objects.find(({ kind, metadata }) => kind === 'Lease' && metadata.name === defaultLeaseName);
  const { holderIdentity, acquireTime, renewTime } = asMap(lease?.spec);
  const renewedMs = Date.parse(asText(renewTime) ?? '');
  if (nowMs !== undefined && nowMs - renewedMs > lostLeaseMs) return undefined;
  const holder = asText(holderIdentity) ?? '';
  const annotations = lease?.metadata.annotations ?? {};
  // A Kerf without an election holds nothing; it still says what it was set to.
  const isUnelected = holder === '' && annotations[annotation.controllerSettings] !== undefined;
  if (lease === undefined || (holder === '' && !isUnelected)) return undefined;
  const since = asText(acquireTime);
  const isKerf = isUnelected || annotations['kerf/holder'] === holder;
  return { name: nameOf(lease), holder, isKerf, ...(since === undefined ? {} : { since }) };
}
