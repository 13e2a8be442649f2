// Asking EC2 for images. Deprecated ones are included: their owner wants them replaced, yet they still boot.
import { DescribeImagesCommand, type EC2Client, type Filter, type Image } from '@aws-sdk/client-ec2';
import { parseTime } from '../../base/index.ts';
import { allPages } from '../paging.ts';

export interface ImageQuery {
  filters: Filter[];
  /** Accounts, `self` or `amazon`; empty for anybody's. */
  owners: string[];
}

const pageSize = 1_000;
const availableOnly = { Name: 'state', Values: ['available'] };

export async function describeImages(ec2: EC2Client, { filters, owners }: ImageQuery): Promise<Image[]> {
  const input = {
    Filters: [...filters, availableOnly],
    IncludeDeprecated: true,
    ...(owners.length === 0 ? {} : { Owners: owners }),
  };
  const images: Image[] = [];
  const pages = allPages((next) => ec2.send(new DescribeImagesCommand({ ...input, MaxResults: pageSize, ...next })));
  for await (const page of pages) {
    images.push(...(page.Images ?? []).filter(({ State }) => State === undefined || State === 'available'));
  }
  return images;
}

export const byIds = (ids: readonly string[]): ImageQuery => ({
  filters: [{ Name: 'image-id', Values: [...ids] }],
  owners: [],
});

export function isDeprecated({ DeprecationTime: time }: Image, nowMs: number): boolean {
  const at = parseTime(time ?? '');
  return at !== undefined && at <= nowMs;
}

/** Before every other for an image without a date. */
export const createdMs = ({ CreationDate: time }: Image): number => parseTime(time ?? '') ?? -Infinity;
