// Helm as the tests use it: the program itself, on the charts of this checkout.
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { provideHelm } from '../setup/helm.ts';
import { type Output, runProgram } from '../setup/run-program.ts';

const root = resolve(import.meta.dirname, '../..');
export const kerfChart = resolve(root, 'charts/kerf');
export const crdChart = resolve(root, 'charts/kerf-crd');
export const examplesFolder = resolve(root, 'examples/helm');

interface Variable {
  name: string;
  value?: string;
}

export interface Container {
  name: string;
  image: string;
  env: Variable[];
  securityContext: Record<string, unknown>;
  volumeMounts?: unknown[];
}

interface PodTerm {
  labelSelector?: unknown;
}

export interface PodSpec {
  containers: Container[];
  nodeSelector: Record<string, string>;
  affinity: { podAntiAffinity: Record<string, PodTerm[]> };
  topologySpreadConstraints: PodTerm[];
}

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** An object of the chart, with the fields that tests look into. */
export interface Rendered {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: { selector: { matchLabels: unknown }; template: { spec: PodSpec } };
  rules?: Rule[];
  data?: Record<string, string>;
}

export async function helm(args: string[], options: { stdin?: string; kubeconfig?: string } = {}): Promise<Output> {
  const program = await provideHelm((line) => console.error(`helm: ${line}`));
  const { kubeconfig, stdin } = options;
  return runProgram(program, [...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]), ...args], {
    env: { ...process.env, ...(kubeconfig === undefined ? { KUBECONFIG: '/dev/null' } : {}) },
    ...(stdin === undefined ? {} : { stdin }),
  });
}

/** The objects that the chart makes of these values: a file, or YAML. */
export async function render(values: string, ...more: string[]): Promise<Rendered[]> {
  const isFile = values.startsWith('/');
  const { stdout } = await helm(
    ['template', 'karpenter', kerfChart, '--namespace', 'kube-system', '-f', isFile ? values : '-', ...more],
    isFile ? {} : { stdin: values },
  );
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
}

/** What Helm says when it refuses values. */
export async function refusal(values: string, ...more: string[]): Promise<string> {
  return render(values, ...more).then(
    () => 'accepted',
    (error: unknown) => String(error),
  );
}

export function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter((each) => each.kind === kind && (name === undefined || each.metadata.name === name));
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${found.length} objects are ${kind} ${name ?? ''}, not one`);
  return found[0];
}

export const podOf = (objects: readonly Rendered[]): PodSpec => only(objects, 'Deployment').spec.template.spec;

export function controllerOf(objects: readonly Rendered[]): Container {
  const [container] = podOf(objects).containers;
  if (container === undefined) throw new Error('the Deployment has no container');
  return container;
}

/** Variables of the controller with plain values. */
export function variables(objects: readonly Rendered[]): Record<string, string> {
  const { env } = controllerOf(objects);
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
