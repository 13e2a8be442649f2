// Kubelet settings of a class for one instance type: expressions worked out, with the units and the rounding their fields
// have. Rounded up, so that a reservation is never smaller than what was asked for, and to steps, so that types of nearly
// the same size share a launch template.
import {
  compileKubeletExpression,
  type KubeletExpression,
  type KubeletVariables,
  type StaticKubelet,
} from '../../api/index.ts';
import { podsOf } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import { defaultNetworkCard, type InstanceTypeInfo } from './instance-type-info.ts';

/** How a bare number becomes an amount of a resource. */
const amounts: Readonly<Record<string, (value: number) => string>> = {
  cpu: (value) => `${roundedUp(value, 10)}m`,
  memory: (value) => `${roundedUp(value, 16)}Mi`,
  'ephemeral-storage': (value) => `${value}Gi`,
  pid: String,
};
const mostPods = 2 ** 31 - 1;

export type KubeletValues = { readonly kubelet: StaticKubelet } | { readonly error: string };

type Context = Pick<InstanceTypeContext, 'kubelet' | 'expressions'> & InstanceTypeContext;

/** The settings for the type, or which expression fails on it and how. */
export function kubeletValues(info: InstanceTypeInfo, context: Context): KubeletValues {
  const { kubelet, expressions } = context;
  const resolved: StaticKubelet = {
    ...kubelet,
    ...(kubelet.kubeReserved === undefined ? {} : { kubeReserved: { ...kubelet.kubeReserved } }),
    ...(kubelet.systemReserved === undefined ? {} : { systemReserved: { ...kubelet.systemReserved } }),
  };
  // Pods first: what is reserved may depend on them.
  for (const expression of [...expressions].sort((left, right) => orderOf(left) - orderOf(right))) {
    const result = valueOf(expression, variablesOf(info, { ...context, kubelet: resolved }));
    if ('error' in result)
      return { error: `spec.kubelet.${placeOf(expression)} ${result.error} on ${info.InstanceType}` };
    const { field, resource } = expression;
    if (field === 'maxPods') resolved.maxPods = result.value;
    else resolved[field] = { ...resolved[field], [resource]: (amounts[resource] ?? String)(result.value) };
  }
  return { kubelet: resolved };
}

/** The first failure over all types: an expression may compile and still fail on small ones alone. */
export function expressionProblem(infos: readonly InstanceTypeInfo[], context: Context): string | undefined {
  if (context.expressions.length === 0) return undefined;
  for (const info of infos) {
    const values = kubeletValues(info, context);
    if ('error' in values) return values.error;
  }
  return undefined;
}

function valueOf({ field, text }: KubeletExpression, variables: KubeletVariables) {
  const program = compiled(text);
  const result = typeof program === 'function' ? program(variables) : program;
  if (!('error' in result) && field === 'maxPods' && result.value > mostPods)
    return { error: `gives ${result.value}, which is more than ${mostPods}` };
  return result;
}

function variablesOf(info: InstanceTypeInfo, context: InstanceTypeContext): KubeletVariables {
  return {
    instance_type: info.InstanceType,
    vcpus: info.VCpuInfo.DefaultVCpus,
    memory_mib: info.MemoryInfo.SizeInMiB,
    default_enis: defaultNetworkCard(info)?.MaximumNetworkInterfaces ?? 0,
    ips_per_eni: info.NetworkInfo?.Ipv4AddressesPerInterface ?? 0,
    max_pods: podsOf(info, context),
  };
}

const programs = new Map<string, ReturnType<typeof compileKubeletExpression>>();
const mostPrograms = 1_000;

function compiled(text: string): ReturnType<typeof compileKubeletExpression> {
  let program = programs.get(text);
  if (program === undefined) {
    if (programs.size >= mostPrograms) programs.clear();
    programs.set(text, (program = compileKubeletExpression(text)));
  }
  return program;
}

const orderOf = ({ field }: KubeletExpression): number => (field === 'maxPods' ? 0 : 1);

const placeOf = ({ field, resource }: KubeletExpression): string =>
  field === 'maxPods' ? field : `${field}[${resource}]`;

const roundedUp = (value: number, step: number): number => Math.ceil(value / step) * step;
