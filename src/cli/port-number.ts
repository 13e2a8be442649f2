// A port as a flag gives it.
import { InvalidArgumentError } from 'commander';

export function portNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('write a port from 0 to 65535.');
}
