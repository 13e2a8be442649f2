import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { listenForKeys } from './open-in-browser.ts';

class FakeTerminal extends EventEmitter {
  modes: boolean[] = [];
  setRawMode(raw: boolean): void {
    this.modes.push(raw);
  }
  resume(): void {}
  pause(): void {}
}

test('o opens, Ctrl-C and Ctrl-Z mean what they always do, and the terminal is given back as it was', () => {
  const terminal = new FakeTerminal();
  const seen: string[] = [];
  const stop = listenForKeys(terminal as never, {
    open: () => seen.push('open'),
    signal: (name) => seen.push(name),
  });
  terminal.emit('data', Buffer.from('xo'));
  terminal.emit('data', Buffer.from('\x1a'));
  terminal.emit('data', Buffer.from('\x03'));
  stop();
  terminal.emit('data', Buffer.from('o'));
  expect(seen).toEqual(['open', 'SIGTSTP', 'SIGINT']);
  expect(terminal.modes).toEqual([true, false, false]);
});
