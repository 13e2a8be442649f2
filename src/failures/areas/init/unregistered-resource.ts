// Claims that wait for a resource which nothing on the node advertises.
import { uninitialisedClaims } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import { conditionOf, type Stored } from '../../objects.ts';

export function claimsWaitingFor(resource: RegExp, evidence: Evidence): { claim: Stored; resource: string }[] {
  return uninitialisedClaims(evidence, 5 * 60_000).flatMap((claim) => {
    const initialized = conditionOf(claim.object, 'Initialized');
    const name = /Resource "([^"]+)" was requested but not registered/i.exec(initialized?.message ?? '')?.[1] ?? '';
    return resource.test(name) ? [{ claim, resource: name }] : [];
  });
}
