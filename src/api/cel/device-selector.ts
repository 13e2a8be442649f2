// CEL expressions that select devices of dynamic resource allocation. `device` has the driver's name, attributes and
// capacities by domain and name, as Kubernetes declares them. An expression that fails on a device selects nothing at all:
// Kubernetes takes that for a mistake in the expression, not for a device that does not match.
import { Environment } from '@marcbachmann/cel-js';
import { messageOf } from '../../base/index.ts';
import { quantityValue, registerKubernetesFunctions, strictInt } from './functions.ts';
import { semverValue } from './semver.ts';
import { renameFunction } from './source.ts';

/** A device as its slice describes it; names without a domain belong to the driver's. */
export interface DeviceFacts {
  readonly driver: string;
  readonly attributes: Readonly<Record<string, { int?: number; bool?: boolean; string?: string; version?: string }>>;
  readonly capacity: Readonly<Record<string, { value: string | number }>>;
  readonly shared: boolean;
}

let environment: Environment | undefined;

function sharedEnvironment(): Environment {
  environment ??= registerKubernetesFunctions(
    new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false }).registerVariable(
      'device',
      'dyn',
    ),
  );
  return environment;
}

type Verdict = boolean | { readonly error: string };

export function compileDeviceSelector(
  expression: string,
): ((device: DeviceFacts) => Verdict) | { readonly error: string } {
  try {
    const program = sharedEnvironment().parse(renameFunction(expression, 'int', strictInt));
    const checked = program.check();
    if (!checked.valid) return { error: `cannot read the selector ${expression}: ${messageOf(checked.error)}` };
    const domains = mentionedDomains(expression);
    return (device) => {
      try {
        const result: unknown = program({ device: celDevice(device, domains) });
        return typeof result === 'boolean' ? result : { error: `the selector ${expression} is neither true nor false` };
      } catch (thrown) {
        return { error: `the selector ${expression} failed: ${messageOf(thrown)}` };
      }
    };
  } catch (thrown) {
    return { error: `cannot read the selector ${expression}: ${messageOf(thrown)}` };
  }
}

/** A domain no attribute has is an empty map, not an error; which ones are asked for is in the text. */
function mentionedDomains(expression: string): string[] {
  return [...expression.matchAll(/\[\s*(?:"([^"]*)"|'([^']*)')\s*\]/g)].map((match) => match[1] ?? match[2] ?? '');
}

function celDevice({ driver, attributes, capacity, shared }: DeviceFacts, domains: readonly string[]): object {
  return {
    driver,
    allowMultipleAllocations: shared,
    attributes: byDomain(driver, domains, attributes, ({ int, bool, string, version }) => {
      if (int !== undefined) return BigInt(int);
      return version === undefined ? (bool ?? string) : semverValue(version);
    }),
    capacity: byDomain(driver, domains, capacity, ({ value }) => quantityValue(String(value))),
  };
}

function byDomain<T>(
  driver: string,
  domains: readonly string[],
  named: Readonly<Record<string, T>>,
  read: (value: T) => unknown,
): Record<string, Record<string, unknown>> {
  const result: Record<string, Record<string, unknown>> = {};
  for (const domain of [driver, ...domains]) result[domain] = {};
  for (const [name, value] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    result[domain] = { ...result[domain], [name.slice(slash + 1)]: read(value) };
  }
  return result;
}
