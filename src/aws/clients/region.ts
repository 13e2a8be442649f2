// Which region we work in: what the SDK's own configuration says (AWS_REGION, AWS_DEFAULT_REGION, the shared config file),
// else what the instance metadata service says.
import { STSClient } from '@aws-sdk/client-sts';
import { KerfError, messageOf } from '../../base/index.ts';

/** The metadata service is one hop away; anything slower is not there. */
const metadataTimeoutMs = 2_000;

export async function discoverRegion(env: Record<string, string | undefined>): Promise<string> {
  let missing: unknown;
  const configured = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'];
  if (configured) return configured;
  try {
    return await new STSClient({}).config.region();
  } catch (error) {
    missing = error;
  }
  try {
    return await regionFromMetadata(env);
  } catch (error) {
    throw new KerfError(
      'RegionUnknown',
      `cannot tell the AWS region: ${messageOf(missing)}, and the instance metadata service says: ${messageOf(error)}; set AWS_REGION`,
      { cause: error },
    );
  }
}

async function regionFromMetadata(env: Record<string, string | undefined>): Promise<string> {
  if (env['AWS_EC2_METADATA_DISABLED'] === 'true') throw new Error('AWS_EC2_METADATA_DISABLED is true');
  const mode = env['AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE'] ?? 'IPv4';
  const standard = mode.toLowerCase() === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254';
  const base = (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || standard).replace(/\/$/, '');
  const ask = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await fetch(`${base}${path}`, { ...init, signal: AbortSignal.timeout(metadataTimeoutMs) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return (await answer.text()).trim();
  };
  const token = await ask('/latest/api/token', {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
  });
  return ask('/latest/meta-data/placement/region', { headers: { 'x-aws-ec2-metadata-token': token } });
}

/** The price list lives in a few regions only. */
export function pricingRegionOf(region: string): string {
  if (region.startsWith('ap-')) return 'ap-south-1';
  if (region.startsWith('cn-')) return 'cn-northwest-1';
  if (region.startsWith('eu-')) return 'eu-central-1';
  return 'us-east-1';
}
