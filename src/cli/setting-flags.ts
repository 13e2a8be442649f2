// Settings of the controller as flags of a command: the same names, meanings and defaults wherever they can be given.
import { type Command, Option } from 'commander';
import type { SettingDefinition } from '../server/index.ts';

export function addSettingFlags(command: Command, definitions: readonly SettingDefinition[]): void {
  for (const { flag, kind, meaning, fallback, env } of definitions) {
    const value = kind === 'boolean' ? '[value]' : '<value>';
    command.addOption(
      new Option(`--${flag} ${value}`, `${meaning} (env ${env}, default ${fallback === '' ? 'empty' : fallback})`),
    );
  }
}

/** Only the flags that were given, by their own names; a boolean flag without a value is `true`. */
export function settingFlags(flags: object, definitions: readonly SettingDefinition[]): Record<string, string> {
  const given: Record<string, string> = {};
  const values = flags as Record<string, unknown>;
  for (const { flag } of definitions) {
    const value = values[flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) given[flag] = String(value);
  }
  return given;
}
