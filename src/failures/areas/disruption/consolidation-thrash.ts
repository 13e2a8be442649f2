// Nodes are replaced by nodes of their own kind, again and again.

import { ageMs, type Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { objectInText } from '../../named-in-text.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';

const hourMs = 3_600_000;
/** Disruptions of underused nodes in one hour, and young nodes of one type beside them, that are no longer chance. */
const fewestGone = 6;
const fewestYoung = 3;
/** A cluster that grows and shrinks with its load replaces some of its nodes; of many nodes, so many are too many anyway. */
const usualShare = 0.25;
const mostUsual = 20;

const fewestOf = ({ objects }: Evidence): number =>
  Math.max(fewestGone, Math.min(mostUsual, Math.ceil(objects.of('NodeClaim').length * usualShare)));

export const consolidationThrash: Failure = {
  id: 'disruption/consolidation-thrash',
  severity: 'medium',
  symptom: 'Nodes of the same type are created, deleted and created again.',
  cause: 'The quiet time is short, savings are marginal, or kube-scheduler places pods elsewhere than planned',
  fix: 'A longer `consolidateAfter`, the policy `Balanced`, or a smaller budget for Underutilized.',
  needs: [kinds('NodeClaim', 'Event')],
  signs: [
    {
      words: ['replacing with', 'replacement-types', 'replace, terminating'],
      pattern:
        /terminating \d+ (?:nodes?|candidates?|machines?)\b.{0,160}\/(?<type>[a-z][a-z0-9-]*\.[a-z0-9]+)\b.{0,160}replacing with .{0,80}\b\k<type>\b/i,
      atLeast: 4,
      confidence: 'likely',
    },
    // Since 1.1 a command is fields: what goes, and what comes instead.
    {
      words: ['replacement-nodes'],
      pattern:
        /"decision": ?"replace".{0,900}"instance-type": ?"(?<type>[a-z][a-z0-9-]*\.[a-z0-9]+)".{0,400}"replacement-nodes": ?\[[^\]]{0,400}"instance-types": ?"\k<type>\b/i,
      atLeast: 4,
      confidence: 'likely',
    },
    // Removed as not needed, and launched again within the minute, several times.
    {
      words: ['consolidation delete', '"command":"underutilized', 'reason":"underutilized'],
      pattern:
        /consolidation delete, terminating \d+ (?:nodes?|candidates?|machines?)\b.{0,160}\/(?<type>[a-z][a-z0-9-]*\.[a-z0-9]+)\/.{0,900}launch(?:ing|ed) (?:machine|nodeclaim|node)\b.{0,200}\b\k<type>\b/i,
      atLeast: 3,
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const type = caught(sightings, 'type');
    return [
      foundIn(sightings, {
        summary: `Nodes${type === undefined ? '' : ` of ${type}`} are replaced by nodes of the same type, again and again.`,
        fix: fixFor(objectInText(sightings, 'NodePool') ?? '"$POOL"'),
      }),
    ];
  },
  check(evidence): Found[] {
    const gone = shortLived(underusedOf(evidence), evidence);
    if (gone.length < fewestOf(evidence)) return [];
    return [...youngByPoolAndType(evidence).values()].flatMap((young): Found[] => {
      const [first] = young;
      if (first === undefined || young.length < fewestYoung) return [];
      const pool = textAt(labelsOf(first.object), poolLabel);
      const type = textAt(labelsOf(first.object), 'node.kubernetes.io/instance-type');
      return [
        {
          confidence: 'likely',
          summary: `${gone.length} nodes were disrupted as underused within an hour, and ${young.length} of ${type} in NodePool ${pool} are younger than that: they come and go.`,
          objects: refsOf(young.slice(0, 3)),
          evidence: [
            ...gone.slice(0, 4).map((event) => ({
              source: event.source,
              text: textAt(event.object, 'message') || textAt(event.object, 'note'),
            })),
            ...young
              .slice(0, 3)
              .map((claim) =>
                fieldItem(claim, 'metadata.creationTimestamp', textAt(claim.object, 'metadata', 'creationTimestamp')),
              ),
          ],
          fix: fixFor(pool),
          key: `${pool} ${type}`,
        },
      ];
    });
  },
};

function underusedOf(evidence: Evidence): Stored[] {
  return evidence.objects.of('Event').filter(({ object }) => {
    const reason = textAt(object, 'reason');
    const message = textAt(object, 'message') || textAt(object, 'note');
    if (!/^Disruption(?:Terminating|Launching)$/.test(reason) || !/underutilized|consolidation/i.test(message))
      return false;
    const age = ageMs(
      evidence,
      textAt(object, 'lastTimestamp') || textAt(object, 'eventTime') || textAt(object, 'metadata', 'creationTimestamp'),
    );
    return age !== undefined && age <= hourMs;
  });
}

/** A node that lives so short was not worth its start. */
const shortLifeMs = 30 * 60_000;
const starts = /^(?:Launched|Registered|Initialized|NodeReady|Starting|RegisteredNode)$/;

/**
 * Those whose start is among the events, too: one that has been there for longer than events are kept, and goes as load goes
 * down, is what consolidation is for. Where no start of any node was kept, all count.
 */
function shortLived(gone: readonly Stored[], evidence: Evidence): Stored[] {
  const started = new Map<string, number>();
  for (const { object } of evidence.objects.of('Event')) {
    if (!starts.test(textAt(object, 'reason'))) continue;
    const [key, time] = [subjectOf(object), firstTimeOf(object)];
    if (!Number.isNaN(time)) started.set(key, Math.min(time, started.get(key) ?? time));
  }
  // One disruption is an event on the claim and one on its node.
  const each = [...new Map(gone.map((event) => [subjectOf(event.object), event])).values()];
  const ofClaims = each.filter(({ object }) => subjectOf(object).startsWith('NodeClaim/'));
  const distinct = 2 * ofClaims.length >= each.length ? ofClaims : each;
  if (started.size === 0) return distinct;
  return distinct.filter(({ object }) => {
    const start = started.get(subjectOf(object));
    return start !== undefined && firstTimeOf(object) - start < shortLifeMs;
  });
}

const subjectOf = (event: unknown): string =>
  `${textAt(event, 'involvedObject', 'kind') || textAt(event, 'regarding', 'kind')}/${textAt(event, 'involvedObject', 'name') || textAt(event, 'regarding', 'name')}`;

const firstTimeOf = (event: unknown): number =>
  Date.parse(
    textAt(event, 'firstTimestamp') ||
      textAt(event, 'eventTime') ||
      textAt(event, 'lastTimestamp') ||
      textAt(event, 'metadata', 'creationTimestamp'),
  );

function youngByPoolAndType(evidence: Evidence): Map<string, Stored[]> {
  const found = new Map<string, Stored[]>();
  for (const claim of evidence.objects.of('NodeClaim')) {
    const age = ageMs(evidence, textAt(claim.object, 'metadata', 'creationTimestamp'));
    if (age === undefined || age > hourMs) continue;
    const labels = labelsOf(claim.object);
    const key = `${textAt(labels, poolLabel)} ${textAt(labels, 'node.kubernetes.io/instance-type')}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, [claim]);
    else known.push(claim);
  }
  return found;
}

function fixFor(pool: string): string[] {
  return [
    `kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"disruption":{"consolidateAfter":"10m"}}}'`,
    `kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"disruption":{"consolidationPolicy":"Balanced"}}}' (where the release has it)`,
  ];
}
