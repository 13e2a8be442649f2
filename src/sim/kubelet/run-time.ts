// How long a pod's containers run and how they end. A real container decides that itself; here the manifest tells:
//
// 1. A pod that is restarted always (what Deployments make) runs until it is deleted.
// 2. Annotation `pod-complete.stage.kwok.x-k8s.io/delay` (a duration) says when the others end.
// 3. Without it, the first `sleep N` in a container's command or arguments does: the longest of all containers counts.
// 4. Without that, they end after the time given to the kubelets.
// 5. They end well, unless a command says `exit N` with another number than 0, or is `false`.
import { parseGoDuration } from '../../base/index.ts';
import type { Pod } from '../../ports/index.ts';

export const completeDelayAnnotation = 'pod-complete.stage.kwok.x-k8s.io/delay';

export interface RunTime {
  runMs: number;
  exitCode: number;
}

/** Undefined: until deleted. */
export function runTimeOf(pod: Pod, defaultRunMs: number): RunTime | undefined {
  if ((pod.spec?.restartPolicy ?? 'Always') === 'Always') return undefined;
  const commands = (pod.spec?.containers ?? []).map(({ command = [], args = [] }) => [...command, ...args].join(' '));
  const exitCode = commands.map(exitCodeOf).find((code) => code !== 0) ?? 0;
  const annotated = durationIn(pod, completeDelayAnnotation);
  if (annotated !== undefined) return { runMs: annotated, exitCode };
  const sleeps = commands.flatMap((command) => sleepOf(command) ?? []);
  return { runMs: sleeps.length > 0 ? Math.max(...sleeps) : defaultRunMs, exitCode };
}

/** A duration written in an annotation; undefined if there is none or it is not one. */
export function durationIn(pod: Pod, annotation: string): number | undefined {
  const text = pod.metadata.annotations?.[annotation];
  return text === undefined ? undefined : parseGoDuration(text);
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function sleepOf(command: string): number | undefined {
  const match = /\bsleep\s+(\d+(?:\.\d+)?)([smhd]?)\b/.exec(command);
  return match === null ? undefined : Number(match[1]) * (unitMs[match[2] || 's'] ?? 1_000);
}

function exitCodeOf(command: string): number {
  const match = /\bexit\s+(\d+)\s*$/.exec(command);
  if (match !== null) return Number(match[1]) & 0xff;
  return /(^|[;&/\s])false\s*$/.test(command) ? 1 : 0;
}
