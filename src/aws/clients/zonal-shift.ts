// Zonal shifts of the cluster, asked of Application Recovery Controller. One signed GET, because the service's own client
// package is not among our dependencies (docs/decisions/0016-ask-for-zonal-shifts-with-one-signed-request.md).
import { KerfError, parseTime } from '../../base/index.ts';
import { type SignedRequestOptions, sendSigned } from './signing.ts';

export interface AppliedShift {
  zoneId: string;
  expiresAtMs: number;
}

export class ZonalShiftClient {
  private readonly options: SignedRequestOptions;

  constructor(options: SignedRequestOptions) {
    this.options = options;
  }

  /** Shifts away from a zone that are in force now. */
  async appliedShifts(clusterArn: string): Promise<AppliedShift[]> {
    const answer = await this.getManagedResource(clusterArn);
    const nowMs = this.options.clock.now();
    return (answer.zonalShifts ?? [])
      .filter(({ appliedStatus }) => appliedStatus === 'APPLIED')
      .map(({ awayFrom = '', expiryTime }) => ({ zoneId: awayFrom, expiresAtMs: timeOf(expiryTime) }))
      .filter(({ zoneId, expiresAtMs }) => zoneId !== '' && expiresAtMs > nowMs);
  }

  private async getManagedResource(arn: string): Promise<ManagedResource> {
    const { status, text, headers } = await sendSigned(this.options, {
      service: 'arc-zonal-shift',
      name: 'ARC Zonal Shift',
      action: 'GetManagedResource',
      method: 'GET',
      path: `/managedresources/${encodeURIComponent(arn)}`,
      headers: {},
    });
    if (status === 200) return JSON.parse(text) as ManagedResource;
    throw refusal(arn, status, text, headers);
  }
}

interface ManagedResource {
  zonalShifts?: { appliedStatus?: string; awayFrom?: string; expiryTime?: number | string }[];
}

/** Seconds since the epoch, or RFC 3339. */
function timeOf(value: number | string | undefined): number {
  return typeof value === 'number' ? value * 1000 : (parseTime(value ?? '') ?? 0);
}

function refusal(arn: string, status: number, text: string, headers: Record<string, string>): KerfError {
  const code = headers['x-amzn-errortype']?.split(':')[0] ?? `HTTP ${status}`;
  return new KerfError(
    'ZonalShiftUnknown',
    `cannot read the zonal shifts of ${arn}: ${code}: ${text.slice(0, 300)}; enable zonal shift for the cluster and allow arc-zonal-shift:GetManagedResource, or unset ENABLE_ZONAL_SHIFT`,
    { retryable: status >= 500 || status === 429 },
  );
}
