import { computed, signal } from '@preact/signals';

/** Prefix of every path of the console. */
const BASE = '/console';

/** Path in the console, without the base, and its query. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

const address = signal(addressOf(location));

/** The current place. */
export const place = computed<Place>(() => {
  const { pathname, searchParams } = new URL(address.value, location.origin);
  return { path: pathname.slice(BASE.length) || '/', query: searchParams };
});

/** The address of a place, for links. */
export function href(to: string): string {
  return `${BASE}${to}`;
}

/** Navigates to a place, like a click on a link. */
export function navigate(to: string, { replace = false } = {}): void {
  if (href(to) !== address.value) {
    history[replace ? 'replaceState' : 'pushState'](null, '', href(to));
    address.value = addressOf(location);
  }
}

/**
 * Changes some parameters of the query without adding a history entry. An empty value removes a parameter; a list repeats it.
 */
export function setQuery(changes: Readonly<Record<string, string | readonly string[] | undefined>>): void {
  const { path, query } = place.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) {
      if (one !== '') {
        next.append(name, one);
      }
    }
  }
  const text = next.toString();
  navigate(text === '' ? path : `${path}?${text}`, { replace: true });
}

/** Handles links within the console and the browser's back and forward buttons without loading a page. Called once. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    address.value = addressOf(location);
  });
  addEventListener('click', (event) => {
    const link = linkOf(event);
    if (link !== undefined) {
      event.preventDefault();
      navigate(`${link.pathname.slice(BASE.length)}${link.search}`);
      scrollTo(0, 0);
    }
  });
}

/** Matches a path against a pattern such as `/instances/:uuid`. Returns the named parts, or undefined. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = partsOf(pattern);
  const found = partsOf(path);
  if (wanted.length !== found.length) {
    return undefined;
  }
  const params: Record<string, string> = {};
  for (const [index, name] of wanted.entries()) {
    const part = decoded(found[index] ?? '');
    if (name.startsWith(':') && part !== undefined) {
      params[name.slice(1)] = part;
    } else if (name !== part) {
      return undefined;
    }
  }
  return params;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function addressOf({ pathname, search }: Location): string {
  return pathname + search;
}

/** Returns the clicked link if the console handles it. The browser handles anchors, new tabs and downloads. */
function linkOf(event: MouseEvent): HTMLAnchorElement | undefined {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (event.defaultPrevented || !isPlain(event) || link === null) {
    return undefined;
  }
  const isOurs = link.origin === location.origin && `${link.pathname}/`.startsWith(`${BASE}/`);
  return isOurs && link.hash === '' && link.target === '' ? link : undefined;
}

/** Whether no modifier key is pressed: those mean a new tab or another function of the browser. */
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}
