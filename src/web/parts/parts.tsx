// Small pieces that several pages use.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { RequestFailed, read } from '../api.ts';
import { shortened } from '../format.ts';
import { timeMs } from '../store.ts';

/** Copies a text; says that it did. */
export function Copy({ text, label }: { text: string; label: string }) {
  const done = useSignal(false);
  const copy = (): void => {
    void navigator.clipboard
      .writeText(text)
      .then(() => {
        done.value = true;
        setTimeout(() => {
          done.value = false;
        }, 1_500);
      })
      .catch(() => prompt('Copy this:', text));
  };
  return (
    <button type="button" class="small" onClick={copy} title={text}>
      {done.value ? 'copied' : label}
    </button>
  );
}

/** A reason in short; all of it for who wants to search for it. */
export function ReasonText({ message, code }: { message: string; code: string }) {
  const { text, rest } = shortened(message);
  return (
    <>
      {text} <code>{code}</code>
      {rest !== '' && (
        <details class="rest">
          <summary>what was asked for</summary>
          <code>{rest}</code>
        </details>
      )}
    </>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

interface Loaded<T> {
  data: T | undefined;
  failed: string | undefined;
}

/** The last answers, so that who comes back to a page sees what was known instead of nothing. */
const lastKnown = new Map<string, unknown>();
const mostKnown = 30;

/** Asks for it before anyone looks at it. */
export const warm = (path: string): Promise<unknown> => ask(path).catch(() => undefined);

async function ask<T>(path: string): Promise<T> {
  const data = await read<T>(path);
  lastKnown.delete(path);
  lastKnown.set(path, data);
  for (const oldest of lastKnown.keys()) {
    if (lastKnown.size <= mostKnown) break;
    lastKnown.delete(oldest);
  }
  return data;
}

/**
 * Asks again every few seconds while it is shown, and at once when `stamp`, which the stream keeps current, is another. One
 * question at a time: where answers take longer than the stamp lasts, each of them is shown all the same.
 */
export function useDocument<T>(path: string, everyMs = 3_000, stamp: string | number = ''): Loaded<T> {
  const state = useSignal<Loaded<T> & { path: string }>({ data: undefined, failed: undefined, path });
  const askNow = useRef(() => {});
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    let isAsking = false;
    let isStale = false;
    const look = async (): Promise<void> => {
      clearTimeout(timer);
      isStale = isAsking;
      if (isAsking) return;
      isAsking = true;
      try {
        const data = await ask<T>(path);
        if (!isOver) state.value = { data, failed: undefined, path };
      } catch (error) {
        const failed =
          error instanceof RequestFailed
            ? `${error.message}${error.problem.fix ? `: ${error.problem.fix}` : ''}`
            : String(error);
        const data = state.peek().path === path ? state.peek().data : undefined;
        if (!isOver) state.value = { data, failed, path };
      }
      isAsking = false;
      if (!isOver && everyMs > 0) timer = setTimeout(() => void look(), isStale ? 0 : everyMs);
    };
    askNow.current = () => void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  useEffect(() => askNow.current(), [path, everyMs, stamp]);
  if (state.value.path === path && (state.value.data !== undefined || state.value.failed !== undefined))
    return state.value;
  return { data: lastKnown.get(path) as T | undefined, failed: undefined };
}

/** How long ago, by the cluster's clock. */
export const sinceMs = (time: string): number => timeMs.value - Date.parse(time);

export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const width = 96;
  const height = 22;
  if (values.length < 2) return <svg class="spark" width={width} height={height} role="img" aria-label={label} />;
  const most = Math.max(...values, 1e-9);
  const least = Math.min(...values);
  const spread = Math.max(most - least, most * 0.02, 1e-9);
  const points = values
    .map(
      (value, at) =>
        `${((at / (values.length - 1)) * width).toFixed(1)},${(height - 2 - ((value - least) / spread) * (height - 4)).toFixed(1)}`,
    )
    .join(' ');
  return (
    <svg class="spark" width={width} height={height} role="img" aria-label={label}>
      <polyline points={points} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
