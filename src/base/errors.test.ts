import { expect, test } from 'vitest';
import { KerfError, messageOf } from './index.ts';

test('an error carries its code, subject and whether retrying helps', () => {
  const error = new KerfError('FileUnreadable', 'cannot read pods.yaml', { subject: 'pods.yaml', retryable: true });
  expect(error).toMatchObject({ code: 'FileUnreadable', subject: 'pods.yaml', retryable: true });
});

test('the message of anything thrown is text', () => {
  expect(messageOf(new Error('no room'))).toBe('no room');
  expect(messageOf('no room')).toBe('no room');
});
