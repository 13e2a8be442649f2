import { beforeEach, expect, test } from 'vitest';
import { LaunchPace, offeringKey } from './launch-pace.ts';

const minuteMs = 60_000;
const offering = (instanceType: string) => ({ instanceType, zone: 'a', capacityType: 'spot' });
const large = offeringKey(offering('m5.large'));
const huge = offeringKey(offering('m5.24xlarge'));

let pace: LaunchPace;
beforeEach(() => {
  pace = new LaunchPace();
});
const begun = (count: number, from = 0): void => {
  for (let index = from; index < count; index++) pace.begin(`claim-${index}`, 'default', ['m5.large']);
};

const hasRoom = (type = 'm5.large', pool = 'default'): boolean => pace.hasRoom(pool, [type], 0, { isProbe: true });

test('a launch is troubled if everything it could get failed within half an hour', () => {
  expect(pace.isTroubled([large], 0)).toBe(false);
  pace.failed('default', [offering('m5.large')], 0);
  expect(pace.isTroubled([large], 30 * minuteMs)).toBe(true);
  expect(pace.isTroubled([large, huge], 0)).toBe(false);
  expect(pace.isTroubled([large], 30 * minuteMs + 1)).toBe(false);
});

test('after a failure one launch is under way; every success doubles that, the next failure makes it one again', () => {
  begun(10);
  expect(hasRoom()).toBe(true);
  pace.failed('default', [offering('m5.large')], 0);
  for (const allowed of [1, 2, 4, 8]) {
    for (let index = 0; index < 10; index++) pace.settle(`claim-${index}`);
    begun(allowed - 1);
    expect(hasRoom()).toBe(true);
    begun(allowed, allowed - 1);
    expect(hasRoom()).toBe(false);
    pace.succeeded('default', offering('m5.large'), 0);
  }
  pace.failed('default', [offering('m5.large')], 0);
  begun(1);
  expect(hasRoom()).toBe(false);
});

test('launches of other types and of other pools are not held back', () => {
  pace.failed('default', [offering('m5.large')], 0);
  begun(1);
  expect(hasRoom('g5.xlarge')).toBe(true);
  expect(hasRoom('m5.large', 'other')).toBe(true);
  pace.settle('claim-0');
  expect(hasRoom()).toBe(true);
});

test('what was launched within ten minutes is proven, until it fails', () => {
  expect(pace.isProven([large], 0)).toBe(false);
  pace.succeeded('default', offering('m5.large'), 0);
  expect(pace.isProven([huge, large], 10 * minuteMs)).toBe(true);
  expect(pace.isProven([large], 10 * minuteMs + 1)).toBe(false);
  pace.succeeded('default', offering('m5.large'), 0);
  pace.failed('default', [offering('m5.large')], 1);
  expect(pace.isProven([large], 2)).toBe(false);
});

test('listeners are notified of every answer until they leave', () => {
  const heard: boolean[] = [];
  const leave = pace.onAnswer((isLaunched) => heard.push(isLaunched));
  pace.succeeded('default', offering('m5.large'), 0);
  pace.failed('default', [], 0);
  leave();
  pace.failed('default', [], 0);
  expect(heard).toEqual([true, false]);
});

test('launches that are not probes wait a minute after a failure, then two, up to ten, until one succeeds', () => {
  const pauses: number[] = [];
  let nowMs = 0;
  for (let failure = 0; failure < 6; failure++) {
    pace.failed('default', [], nowMs);
    pace.failed('default', [], nowMs + 1);
    let waitMs = 0;
    while (!pace.hasRoom('default', ['m5.large'], nowMs + waitMs)) waitMs += minuteMs;
    pauses.push(waitMs / minuteMs);
    nowMs += waitMs;
  }
  expect(pauses).toEqual([1, 2, 4, 8, 10, 10]);
  pace.failed('default', [], nowMs);
  pace.succeeded('default', offering('m5.large'), nowMs);
  expect(pace.hasRoom('default', ['m5.large'], nowMs)).toBe(true);
});

test('a pool is failing from a failure to the next success', () => {
  expect(pace.isFailing('default')).toBe(false);
  pace.failed('default', [], 0);
  expect(pace.isFailing('default')).toBe(true);
  expect(pace.isFailing('other')).toBe(false);
  pace.succeeded('default', offering('m5.large'), 1);
  expect(pace.isFailing('default')).toBe(false);
});
