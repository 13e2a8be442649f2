// Reads one setting after the other from flags and environment, and gathers what is wrong with them.
import { KerfError, nearestName, parseGoDuration } from '../../base/index.ts';
import type { SettingDefinition } from './definitions.ts';

export type Value = string | number | boolean | Record<string, boolean>;

export class SettingReader {
  /** What stops the process. */
  readonly problems: string[] = [];
  /** Values of the environment that were ignored. */
  readonly warnings: string[] = [];
  /** Choices that are accepted and change nothing. */
  readonly notes: string[] = [];
  private readonly flags: Record<string, string>;
  private readonly env: Record<string, string | undefined>;

  constructor(flags: Record<string, string>, env: Record<string, string | undefined>) {
    this.flags = flags;
    this.env = env;
  }

  read<T extends Value>(definition: SettingDefinition): T {
    const flag = this.flags[definition.flag];
    if (flag !== undefined) {
      const parsed = parseValue(definition, flag);
      if ('problem' in parsed) {
        const isChoice = definition.kind === 'choice';
        const problem = isChoice ? choiceProblem(definition, flag, parsed.problem) : parsed.problem;
        this.problems.push(`--${definition.flag}: ${problem}`);
      } else return this.noted(`--${definition.flag}`, parsed) as T;
    }
    const variable = readable(definition, this.env[definition.env]);
    if (variable !== undefined && (variable !== '' || definition.kind === 'text')) {
      const parsed = parseValue(definition, variable);
      if (!('problem' in parsed)) return this.noted(definition.env, parsed) as T;
      if (definition.kind === 'choice' || definition.kind === 'gates')
        this.problems.push(choiceProblem(definition, variable, parsed.problem));
      else this.warnings.push(`${definition.env}: ${parsed.problem}; using the default ${definition.fallback}`);
    }
    const fallback = parseValue(definition, definition.fallback);
    if ('problem' in fallback)
      throw new KerfError('SettingDefaultInvalid', `default of ${definition.flag}: ${fallback.problem}`);
    return fallback.value as T;
  }

  /** Gates that do not exist are dropped, but never without a word. */
  private noted(source: string, { value, unknown = [] }: Parsed): Value {
    this.warnings.push(...unknown.map((each) => `${source}: ${each}`));
    return value;
  }
}

interface Parsed {
  value: Value;
  unknown?: string[];
}

/** Environments may spell a boolean in the ways Go reads; flags only take true and false. */
function readable({ kind }: SettingDefinition, text: string | undefined): string | undefined {
  if (text === undefined || kind !== 'boolean') return text;
  return String(goBoolean(text) ?? text);
}

function goBoolean(text: string): boolean | undefined {
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(text) ? false : undefined;
}

function choiceProblem(definition: SettingDefinition, value: string, problem: string): string {
  return `invalid ${definition.env} "${value}": ${problem}`;
}

function parseValue(definition: SettingDefinition, text: string): Parsed | { problem: string } {
  switch (definition.kind) {
    case 'text':
      return { value: text };
    case 'integer':
      return /^[+-]?\d+$/.test(text) ? { value: Number(text) } : { problem: `"${text}" is not a whole number` };
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text))
        ? { value: Number(text) }
        : { problem: `"${text}" is not a number` };
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { problem: `"${text}" is neither true nor false` };
    case 'duration': {
      const ms = parseGoDuration(text);
      return ms === undefined ? { problem: `"${text}" is not a duration such as 10s or 1m30s` } : { value: ms };
    }
    case 'choice': {
      const choices = definition.choices ?? [];
      return choices.includes(text)
        ? { value: text }
        : { problem: `write one of ${choices.filter((each) => each !== '').join(', ')}` };
    }
    case 'gates':
      return parseGates(definition.gates ?? {}, text);
  }
}

/** Unknown gates are left out and reported, missing ones keep their default; only a syntax error is a problem. */
function parseGates(defaults: Readonly<Record<string, boolean>>, text: string): Parsed | { problem: string } {
  const gates: Record<string, boolean> = { ...defaults };
  const unknown: string[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const [name = '', text = ''] = part.split('=').map((each) => each.trim());
    const on = goBoolean(text);
    if (name === '' || on === undefined) return { problem: `"${part}" is not of the form Name=true or Name=false` };
    if (Object.hasOwn(gates, name)) gates[name] = on;
    else {
      const names = Object.keys(defaults);
      const near = nearestName(name, names) ?? names.find((each) => each.toLowerCase().startsWith(name.toLowerCase()));
      unknown.push(
        `there is no gate ${name}; ${near === undefined ? `there are ${names.join(', ')}` : `did you mean ${near}?`}`,
      );
    }
  }
  return { value: gates, unknown };
}
