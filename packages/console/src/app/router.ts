import { computed, signal } from '@preact/signals';

/** Before every path of the console. */
const BASE = '/console';

/** A place in the console: its path without the base, and what stands behind the question mark. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

const address = signal(addressOf(location));

/** Where the person is. */
export const place = computed<Place>(() => {
  const { pathname, searchParams } = new URL(address.value, location.origin);
  return { path: pathname.slice(BASE.length) || '/', query: searchParams };
});

/** The address of a place, for links. */
export function href(to: string): string {
  return `${BASE}${to}`;
}

/** Goes to a place, as a click on a link does. */
export function navigate(to: string, { replace = false } = {}): void {
  if (href(to) !== address.value) {
    history[replace ? 'replaceState' : 'pushState'](null, '', href(to));
    address.value = addressOf(location);
  }
}

/**
 * Changes parts of the query and keeps the others, without a new entry of the history: for filters. An empty value leaves the part
 * out; a list is a part that stands there several times.
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

/** Follows links of the console without loading a page, and the buttons of the browser. Called once. */
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

/** Matches a path with a pattern such as `/instances/:uuid`; gives the parts that the pattern names. */
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

/** The link of the console that a click is about. A place within the page, a new tab and a file are for the browser. */
function linkOf(event: MouseEvent): HTMLAnchorElement | undefined {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (event.defaultPrevented || !isPlain(event) || link === null) {
    return undefined;
  }
  const isOurs = link.origin === location.origin && `${link.pathname}/`.startsWith(`${BASE}/`);
  return isOurs && link.hash === '' && link.target === '' ? link : undefined;
}

/** Whoever holds a key wants a new tab, or something else of the browser. */
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}
