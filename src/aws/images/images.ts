// The images of a class: selector terms become questions to SSM and EC2, and of the answers one image is kept for each
// kind of instance type it can boot. The status lists them; whoever launches takes the first that fits a type.
//
// Promises:
// 1. Of images for the same types, one that is not deprecated wins, then the newer, then the greater name.
// 2. The list is ordered by creation, newest first, then by id.
import type { EC2Client, Image } from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap, KerfError } from '../../base/index.ts';
import { generationKey } from '../generation-key.ts';
import { tagFilters } from '../tag-filters.ts';
import { aliasParameters, parseAlias, unsupportedAlias } from './alias.ts';
import { byIds, createdMs, describeImages, type ImageQuery, isDeprecated } from './describe-images.ts';
import {
  type ImageRequirement,
  type ImageStatus,
  variantRequirements,
  withArchitecture,
} from './image-requirements.ts';
import type { Parameters } from './parameters.ts';

export interface ImagesOptions {
  ec2: EC2Client;
  clock: Clock;
  parameters: Parameters;
  /** `1.34`, of the cluster. */
  kubernetesVersion: () => Promise<string>;
  /** Setting `amiRefreshInterval`. */
  refreshMs: number;
}

export type ImagesAnswer =
  | { kind: 'found'; images: readonly ImageStatus[] }
  /** Amazon publishes no such images for the cluster's version; only an edited class helps. */
  | { kind: 'unsupportedAlias'; message: string };

interface Question extends ImageQuery {
  /** Requirement sets of images by id; every other image has the one empty set. */
  requirements?: ReadonlyMap<string, ImageRequirement[][]>;
}

interface Candidate {
  image: Image;
  isDeprecated: boolean;
  requirements: ImageRequirement[];
}

export class Images {
  private readonly options: ImagesOptions;
  private readonly found: ExpiringMap<string, ImageStatus[]>;

  constructor(options: ImagesOptions) {
    this.options = options;
    this.found = new ExpiringMap(options.clock, options.refreshMs);
  }

  async list(nodeClass: Pick<EC2NodeClass, 'metadata' | 'spec'>): Promise<ImagesAnswer> {
    const key = generationKey(nodeClass);
    const known = this.found.get(key);
    if (known !== undefined) return { kind: 'found', images: known };
    const questions = await this.questions(nodeClass.spec.amiSelectorTerms);
    if (!Array.isArray(questions)) return questions;
    const { ec2, clock } = this.options;
    const best = new Map<string, Candidate>();
    for (const question of questions) {
      for (const image of await describeImages(ec2, question)) {
        for (const candidate of candidates(image, question, clock.now())) {
          const set = JSON.stringify(candidate.requirements);
          const rival = best.get(set);
          if (rival === undefined || isBetter(candidate, rival)) best.set(set, candidate);
        }
      }
    }
    const images = [...best.values()].sort(byCreation).map(toStatus);
    this.found.set(key, images);
    return { kind: 'found', images };
  }

  /** Forgets what `latest` stood for where that image is deprecated now: the next look asks SSM again. */
  async forgetDeprecated(): Promise<void> {
    const { ec2, clock, parameters } = this.options;
    const latest = parameters.latest();
    if (latest.length === 0) return;
    const ids = [...new Set(latest.map(({ value }) => value))];
    const images = await describeImages(ec2, byIds(ids));
    const deprecated = new Set(
      images.filter((image) => isDeprecated(image, clock.now())).map(({ ImageId }) => ImageId),
    );
    for (const { name, value } of latest) if (deprecated.has(value)) parameters.forget(name);
  }

  private async questions(terms: EC2NodeClass['spec']['amiSelectorTerms']): Promise<Question[] | ImagesAnswer> {
    const alias = terms.find((term) => term.alias !== undefined)?.alias;
    if (alias !== undefined) return this.aliasQuestion(alias);
    const ids: string[] = [];
    const questions: Question[] = [];
    for (const { id, ssmParameter, name, owner, tags } of terms) {
      if (id !== undefined) ids.push(id);
      else if (ssmParameter !== undefined) {
        const value = await this.options.parameters.get(ssmParameter, 'custom');
        if (value?.startsWith('ami-')) ids.push(value);
      } else {
        // A name alone could be anybody's: without an owner only our own and Amazon's images count.
        const owners = owner === undefined ? (name === undefined ? [] : ['self', 'amazon']) : [owner];
        const byName = name === undefined ? [] : [{ Name: 'name', Values: [name] }];
        questions.push({ filters: [...byName, ...tagFilters(tags)], owners });
      }
    }
    return ids.length === 0 ? questions : [byIds(ids), ...questions];
  }

  private async aliasQuestion(text: string): Promise<Question[] | ImagesAnswer> {
    const alias = parseAlias(text);
    if (alias === undefined)
      throw new KerfError('AliasUnreadable', `cannot read AMI alias ${text}: write family@version`);
    const version = await this.options.kubernetesVersion();
    const message = unsupportedAlias(alias, version);
    if (message !== undefined) return { kind: 'unsupportedAlias', message };
    const requirements = new Map<string, ImageRequirement[][]>();
    for (const { name, isMutable, variants } of aliasParameters(alias, version)) {
      const id = await this.options.parameters.get(name, isMutable ? 'latest' : 'pinned');
      if (id === undefined) continue;
      const sets = variants.map((variant) => variantRequirements(variant, alias.family));
      requirements.set(id, [...(requirements.get(id) ?? []), ...sets]);
    }
    if (requirements.size === 0) {
      const where = `alias=${text}, kubernetes=${version}`;
      const message = `failed to discover any AMIs for alias (${where}): EKS publishes none for this version of Kubernetes; write a newer version, or latest`;
      throw new KerfError('AliasUnresolved', message, { retryable: true });
    }
    return [{ ...byIds([...requirements.keys()]), requirements }];
  }
}

function candidates(image: Image, question: Question, nowMs: number): Candidate[] {
  const sets = question.requirements?.get(image.ImageId ?? '') ?? [[]];
  return sets.flatMap((set) => {
    const requirements = withArchitecture(set, image.Architecture);
    return requirements === undefined ? [] : [{ image, isDeprecated: isDeprecated(image, nowMs), requirements }];
  });
}

function isBetter(candidate: Candidate, rival: Candidate): boolean {
  if (candidate.isDeprecated !== rival.isDeprecated) return rival.isDeprecated;
  const [mine, theirs] = [createdMs(candidate.image), createdMs(rival.image)];
  if (mine !== theirs) return mine > theirs;
  return (candidate.image.Name ?? '') > (rival.image.Name ?? '');
}

function byCreation(left: Candidate, right: Candidate): number {
  const [l, r] = [createdMs(left.image), createdMs(right.image)];
  if (l !== r) return l > r ? -1 : 1;
  const [lid, rid] = [left.image.ImageId ?? '', right.image.ImageId ?? ''];
  if (lid !== rid) return lid < rid ? -1 : 1;
  return JSON.stringify(left.requirements) < JSON.stringify(right.requirements) ? -1 : 1;
}

function toStatus({ image, isDeprecated, requirements }: Candidate): ImageStatus {
  return {
    id: image.ImageId ?? '',
    ...(image.Name === undefined ? {} : { name: image.Name }),
    ...(isDeprecated ? { deprecated: true } : {}),
    requirements,
  };
}
