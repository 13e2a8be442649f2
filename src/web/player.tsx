// The player of a simulated cluster: its time, what goes wrong, how much there is to do.
import { useSignal } from '@preact/signals';
import { send } from './api.ts';
import { cluster, info, version } from './store.ts';

const speeds = [1, 10, 60, 600];
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
  return (
    <footer class="player" aria-label="Player">
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
      {names.length > 0 && (
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
