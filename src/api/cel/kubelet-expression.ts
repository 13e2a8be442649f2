// CEL expressions in kubelet settings of an EC2NodeClass: a number worked out for each instance type. The variables and
// functions are those of Karpenter's gate NodeClassCEL. Nothing in an expression can repeat anything, so that none takes
// longer than its text: only the functions listed here may be called.
import { Environment } from '@marcbachmann/cel-js';
import { messageOf } from '../../base/index.ts';

export interface KubeletVariables {
  instance_type: string;
  vcpus: number;
  memory_mib: number;
  default_enis: number;
  ips_per_eni: number;
  /** Pods of the type without the expression; in reservations, those with it. */
  max_pods: number;
}

export type ExpressionResult = { readonly value: number } | { readonly error: string };

const longestText = 2_048;
const functions = new Set('min max int double startsWith endsWith contains size'.split(' '));
const numbers = ['int', 'double'] as const;

let environment: Environment | undefined;

function sharedEnvironment(): Environment {
  if (environment !== undefined) return environment;
  const made = new Environment({ unlistedVariablesAreDyn: false })
    .registerVariable('instance_type', 'string')
    .registerVariable('vcpus', 'int')
    .registerVariable('memory_mib', 'int')
    .registerVariable('default_enis', 'int')
    .registerVariable('ips_per_eni', 'int')
    .registerVariable('max_pods', 'int');
  for (const [name, isLess] of [
    ['min', true],
    ['max', false],
  ] as const) {
    for (const left of numbers) {
      for (const right of numbers) {
        const type = left === 'int' && right === 'int' ? 'int' : 'double';
        made.registerFunction(`${name}(${left}, ${right}): ${type}`, (one: bigint | number, other: bigint | number) => {
          const chosen = one < other === isLess ? one : other;
          return type === 'int' ? chosen : Number(chosen);
        });
      }
    }
  }
  // A share such as `vcpus * 2.5` needs no conversion.
  const ways: Record<string, (one: number, other: number) => number> = {
    '+': (one, other) => one + other,
    '-': (one, other) => one - other,
    '*': (one, other) => one * other,
    '/': (one, other) => one / other,
  };
  for (const [sign, apply] of Object.entries(ways)) {
    const mixed = (one: unknown, other: unknown): number => apply(Number(one), Number(other));
    made.registerOperator(`int ${sign} double: double`, mixed).registerOperator(`double ${sign} int: double`, mixed);
  }
  return (environment = made);
}

type Program = (variables: KubeletVariables) => ExpressionResult;

/** The expression as a function of an instance type, or why it cannot be one. */
export function compileKubeletExpression(text: string): Program | { readonly error: string } {
  if (text.length > longestText) return { error: `is longer than ${longestText} characters` };
  const called = [...text.matchAll(/([A-Za-z_]\w*)\s*\(/g)].map(([, name = '']) => name);
  const strange = called.find((name) => !functions.has(name));
  if (strange !== undefined) return { error: `calls ${strange}; write one of ${[...functions].join(', ')}` };
  try {
    const program = sharedEnvironment().parse(text);
    const checked = program.check();
    if (!checked.valid) return { error: firstLine(checked.error) };
    if (checked.type !== 'int' && checked.type !== 'double') return { error: `gives a ${checked.type}, not a number` };
    return (variables) => {
      try {
        return resultOf(program(celVariables(variables)));
      } catch (thrown) {
        return { error: firstLine(thrown) };
      }
    };
  } catch (thrown) {
    return { error: firstLine(thrown) };
  }
}

function celVariables({ instance_type, ...figures }: KubeletVariables): Record<string, unknown> {
  const entries = Object.entries(figures).map(([name, value]) => [name, BigInt(value)] as const);
  return { instance_type, ...Object.fromEntries(entries) };
}

function resultOf(result: unknown): ExpressionResult {
  const value = Number(result);
  if (!Number.isFinite(value)) return { error: 'gives no finite number' };
  return value < 0 ? { error: `gives ${value}, which is negative` } : { value: Math.trunc(value) };
}

/** The lines after it draw the expression with a mark below; a condition's message has no room for that. */
const firstLine = (thrown: unknown): string => messageOf(thrown).split('\n')[0] ?? '';
