// The player of a simulated cluster, or of a recording: its time and the way back, stories, what goes wrong, how much there
// is to do.
import { effect, useSignal } from '@preact/signals';
import { send } from './api.ts';
import { clockTime } from './format.ts';
import { moment, setQuery } from './route.ts';
import { cluster, info, timeMs, version } from './store.ts';

const speeds = [1, 10, 60, 600];
const stories = ['burst', 'lost zone', 'bad image', 'night shift', 'PDB that never yields'];
const faults = ['zone out', 'spot taken', 'launches fail', 'nodes ill', 'throttle'];
/** Made by no Deployment, so not to be scaled here. */
const isScalable = (workload: string): boolean => !workload.startsWith('kube-system/');

export function Player() {
  void version.value;
  const failed = useSignal<string | undefined>(undefined);
  const workload = useSignal('');
  const now = info.value;
  if (now?.capabilities.player !== true) return null;
  const act = (order: object): void => {
    failed.value = undefined;
    void send('player', order).catch((error: unknown) => {
      failed.value = error instanceof Error ? error.message : String(error);
    });
  };
  const running = new Map<string, number>();
  for (const cells of cluster.shown?.cells.values() ?? []) {
    for (const { workload: name, state, count } of cells) {
      if (state !== 'daemon') running.set(name, (running.get(name) ?? 0) + count);
    }
  }
  const names = [...running.keys()].filter(isScalable).sort();
  const chosen = workload.value || (names.find((name) => name.endsWith('/web')) ?? names[0] ?? '');
  const count = running.get(chosen) ?? 0;
  // Of what is over nothing can be changed.
  const isLive = now.mode === 'up' && now.isPast !== true;
  return (
    <footer class="player" aria-label="Player">
      {now.isPast !== true && (
        <div class="row" role="group" aria-label="Time">
          <button type="button" aria-pressed={now.paused} onClick={() => act({ paused: !now.paused })}>
            {now.paused ? 'go on' : 'pause'}
          </button>
          {speeds.map((speed) => (
            <button
              type="button"
              key={speed}
              aria-pressed={!now.paused && now.speed === speed}
              onClick={() => act({ speed, paused: false })}
            >
              {speed}×
            </button>
          ))}
        </div>
      )}
      <Seek act={act} />
      {isLive && (
        <div class="row" role="group" aria-label="Stories">
          <span class="caption">stories</span>
          <select
            aria-label="Story"
            value={now.story?.name ?? ''}
            onChange={(event) => act({ story: event.currentTarget.value || null })}
          >
            <option value="">{now.story === undefined ? 'choose one' : 'end it'}</option>
            {stories.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
      {isLive && (
        <div class="row" role="group" aria-label="Faults">
          <span class="caption">faults</span>
          {faults.map((fault) => {
            const isOn = now.faults?.includes(fault) === true;
            return (
              <button
                type="button"
                key={fault}
                class={isOn ? 'fault on' : 'fault'}
                aria-pressed={isOn}
                onClick={() => act({ fault, on: !isOn })}
              >
                {fault}
              </button>
            );
          })}
        </div>
      )}
      {isLive && names.length > 0 && (
        <div class="row" role="group" aria-label="Load">
          <span class="caption">load</span>
          <select
            aria-label="Workload"
            value={chosen}
            onChange={(event) => (workload.value = event.currentTarget.value)}
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button type="button" onClick={() => act({ workload: chosen, replicas: Math.max(1, Math.floor(count / 2)) })}>
            ÷2
          </button>
          <button type="button" onClick={() => act({ workload: chosen, replicas: Math.max(2, count * 3) })}>
            ×3
          </button>
        </div>
      )}
      {failed.value !== undefined && <span class="problem">{failed.value}</span>}
    </footer>
  );
}

/** Where in the recording; the end of it is now, where the cluster goes on. */
function Seek({ act }: { act: (order: object) => void }) {
  const { recorded, isPast, mode } = info.value ?? {};
  const dragged = useSignal<number | undefined>(undefined);
  if (recorded === undefined) return null;
  const { fromMs, toMs } = recorded;
  const at = dragged.value ?? timeMs.value;
  const isNow = mode === 'up' && isPast !== true;
  return (
    <div class="row seek" role="group" aria-label="Moment">
      <time class="faint">{clockTime(fromMs)}</time>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={clockTime(at)}
        min={fromMs}
        max={toMs}
        step={1_000}
        value={isNow && dragged.value === undefined ? toMs : at}
        onInput={(event) => {
          dragged.value = Number(event.currentTarget.value);
        }}
        onChange={(event) => {
          dragged.value = undefined;
          const ms = Number(event.currentTarget.value);
          setQuery({ at: new Date(ms).toISOString() });
          act({ seek: ms });
        }}
      />
      <time class="faint">{clockTime(dragged.value ?? toMs)}</time>
      {isPast === true && (
        <button
          type="button"
          class="primary"
          onClick={() => {
            setQuery({ at: undefined });
            act({ seek: null });
          }}
        >
          back to now
        </button>
      )}
    </div>
  );
}

/** A link to a moment goes there, once; after that the address says which moment is shown. */
export function followMoment(): void {
  const asked = Date.parse(moment.peek() ?? '');
  let isAsked = false;
  let wasPast = false;
  effect(() => {
    const now = info.value;
    if (now?.recorded === undefined) return;
    const isPast = now.isPast === true;
    if (!isAsked && !Number.isNaN(asked)) {
      isAsked = true;
      // What cannot be gone back to is shown as it is now.
      void send('player', { seek: asked }).catch(() => setQuery({ at: undefined }));
      return;
    }
    if (isPast && moment.peek() === undefined) setQuery({ at: new Date(timeMs.peek()).toISOString() });
    if (!isPast && wasPast) setQuery({ at: undefined });
    wasPast = isPast;
  });
}

/** What a story says at this moment, or that this is not now. */
export function Caption() {
  const now = info.value;
  if (now?.isPast === true) {
    return (
      <p class="banner note" role="status">
        The cluster as it was at {clockTime(timeMs.value)}, from the recording. It goes on meanwhile.
      </p>
    );
  }
  if (now?.story === undefined) return null;
  const { name, caption, step, steps } = now.story;
  return (
    <p class="banner story" role="status">
      <b>{name}</b> {step} of {steps}: {caption}
    </p>
  );
}
