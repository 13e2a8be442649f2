// ⌘K: jump to any page, pool, node or decision by a part of its name.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hrefOf, views } from './route.ts';
import { cluster, recent } from './store.ts';

const most = 12;

interface Place {
  kind: string;
  name: string;
  href: string;
}

function places(text: string): Place[] {
  const part = text.trim().toLowerCase();
  const found: Place[] = [];
  const add = (kind: string, name: string, href: string): void => {
    if (found.length < most && name.toLowerCase().includes(part)) found.push({ kind, name, href });
  };
  for (const view of views) add('page', view, hrefOf(view));
  for (const pool of cluster.shown?.dictionaries.pool ?? [])
    if (pool !== '') add('pool', pool, hrefOf('map', '', { q: `pool=${pool}` }));
  for (const row of cluster.shown?.nodes.values() ?? []) add('node', row.name, hrefOf('map', '', { node: row.name }));
  for (const { id } of recent.value) add('decision', id, hrefOf('decisions', id));
  if (part.includes('/')) found.unshift({ kind: 'pod', name: part, href: hrefOf('waiting', part) });
  return found.slice(0, most);
}

export function Jump({ onClose }: { onClose: () => void }) {
  const text = useSignal('');
  const at = useSignal(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const found = places(text.value);
  const go = (place: Place | undefined): void => {
    if (place !== undefined) location.hash = place.href;
    onClose();
  };
  return (
    <div class="overlay" onClick={onClose}>
      <div
        class="dialog"
        role="dialog"
        aria-modal="true"
        aria-label="Jump to"
        onClick={(event) => event.stopPropagation()}
      >
        <input
          ref={field}
          type="text"
          placeholder="page, pool, node, decision or namespace/pod"
          aria-label="Jump to"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onClose();
            if (event.key === 'ArrowDown') at.value = Math.min(found.length - 1, at.value + 1);
            if (event.key === 'ArrowUp') at.value = Math.max(0, at.value - 1);
            if (event.key === 'Enter') go(found[at.value]);
          }}
        />
        <ul>
          {found.map((place, index) => (
            <li key={place.href}>
              <button type="button" class={index === at.value ? 'on' : ''} onClick={() => go(place)}>
                <span class="faint">{place.kind}</span> {place.name}
              </button>
            </li>
          ))}
          {found.length === 0 && <li class="faint">nothing of that name</li>}
        </ul>
      </div>
    </div>
  );
}
