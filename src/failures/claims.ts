// NodeClaims on their way: which have been waiting longer than a healthy start takes.
import { ageMs, type Evidence } from './evidence.ts';
import { at, textAt } from './fields.ts';
import { conditionOf, isDeleting, type Stored } from './objects.ts';

const minute = 60_000;
/** A node is usually there within two minutes of its launch; slow images take a few more. */
const usualRegistrationMs = 5 * minute;
/** From registration to Ready and initialised: pods of the network, devices, agents that remove taints. */
const usualInitialisationMs = 10 * minute;

/** Launched long ago, and no node came. */
export function unregisteredClaims(evidence: Evidence, leastMs = usualRegistrationMs): Stored[] {
  return evidence.objects.of('NodeClaim').filter(({ object }) => {
    const launched = conditionOf(object, 'Launched');
    const isLaunched = launched?.status === 'True' || textAt(object, 'status', 'providerID') !== '';
    if (!isLaunched || isDeleting(object) || conditionOf(object, 'Registered')?.status === 'True') return false;
    return isOlder(evidence, launched?.since || textAt(object, 'metadata', 'creationTimestamp'), leastMs);
  });
}

/** Registered long ago, and not initialised. */
export function uninitialisedClaims(evidence: Evidence, leastMs = usualInitialisationMs): Stored[] {
  return evidence.objects.of('NodeClaim').filter(({ object }) => {
    const registered = conditionOf(object, 'Registered');
    if (registered?.status !== 'True' || isDeleting(object) || conditionOf(object, 'Initialized')?.status === 'True')
      return false;
    return isOlder(evidence, registered.since || textAt(object, 'metadata', 'creationTimestamp'), leastMs);
  });
}

/** Unknown times count as long ago: without a clock, what someone collected is what worried them. */
export function isOlder(evidence: Evidence, time: string, leastMs: number): boolean {
  const age = ageMs(evidence, time);
  return age === undefined || age >= leastMs;
}

/** `i-0abc` out of `aws:///us-east-1a/i-0abc`. */
export const instanceOf = ({ object }: Stored): string =>
  (textAt(object, 'status', 'providerID') || textAt(object, 'spec', 'providerID')).split('/').at(-1) ?? '';

/** A managed node that has been there for longer than this. */
export function isOldNode(evidence: Evidence, { object }: Stored, leastMs: number): boolean {
  return (
    at(object, 'metadata', 'deletionTimestamp') === undefined &&
    isOlder(evidence, textAt(object, 'metadata', 'creationTimestamp'), leastMs)
  );
}
