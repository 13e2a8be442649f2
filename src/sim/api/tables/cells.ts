// Words that the cells of many tables share.
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableColumn } from '../definition.ts';

/** `Name/name, Ready, Desired:integer, IP+`: name, /format, :type, + for wide output only. */
export function columns(text: string): TableColumn[] {
  return text.split(',').map((word) => {
    const match = /^\s*([^/:+]+)(?:\/(\w+))?(?::(\w+))?(\+)?\s*$/.exec(word);
    const [, name = '', format = '', type = 'string', wide] = match ?? [];
    return { name, type, format, description: '', priority: wide === undefined ? 0 : 1 };
  });
}

export const metaOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata');
export const nameOf = (object: JsonObject): string => stringAt(metaOf(object), 'name');
export const numberAt = (parent: JsonObject, key: string): number => Number(parent[key] ?? 0);

/** Time since `timestamp`, as kubectl writes it. */
export function since(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  return humanDuration(nowMs - Date.parse(timestamp));
}

export const age = (object: JsonObject, nowMs: number): string => since(metaOf(object)['creationTimestamp'], nowMs);

/** Two units at most, fewer the longer it is. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  if (years < 8) return days % 365 === 0 ? `${years}y` : `${years}y${days % 365}d`;
  return `${years}y`;
}

export function formatLabels(labels: JsonObject): string {
  const pairs = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));
  return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${String(value)}`).join(',');
}

/** Names and images of a pod spec's containers. */
export function containerCells(podSpec: JsonObject): [string, string] {
  const containers = listAt(podSpec, 'containers');
  return [
    containers.map((container) => stringAt(container, 'name')).join(','),
    containers.map((container) => stringAt(container, 'image')).join(','),
  ];
}

export const templateSpec = (object: JsonObject): JsonObject =>
  objectAt(objectAt(objectAt(object, 'spec'), 'template'), 'spec');

export function hasCondition(object: JsonObject, type: string): boolean {
  return listAt(objectAt(object, 'status'), 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}
