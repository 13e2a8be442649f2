// The address holds view, filter, selection and the moment that is shown, so that every screen is a link.
import { computed, signal } from '@preact/signals';

export const views = ['map', 'waiting', 'pools', 'decisions', 'cost', 'what-if', 'doctor', 'shadow'] as const;
export type View = (typeof views)[number];

interface Route {
  view: View;
  /** `pod` pages and single decisions have one. */
  rest: string;
  query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed<Route>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?');
  const [first = '', ...rest] = path.split('/');
  const view = views.find((each) => each === first) ?? 'map';
  return { view, rest: rest.map(decodeURIComponent).join('/'), query: new URLSearchParams(query) };
});

/** The moment that is shown, where that is not now: it stays from page to page. */
export const moment = computed(() => route.value.query.get('at') ?? undefined);

function address(view: View, rest: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return `#/${view}${rest === '' ? '' : `/${rest.split('/').map(encodeURIComponent).join('/')}`}${text === '' ? '' : `?${text}`}`;
}

export const hrefOf = (view: View, rest = '', query: Record<string, string> = {}): string =>
  address(view, rest, moment.value === undefined ? query : { ...query, at: moment.value });

export function go(view: View, rest = '', query: Record<string, string> = {}): void {
  location.hash = hrefOf(view, rest, query);
}

/** Changes the address without a new entry in the history: filters and selections while someone types or clicks. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const { view, rest, query } = route.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  history.replaceState(null, '', address(view, rest, Object.fromEntries(next)));
  hash.value = location.hash;
}
