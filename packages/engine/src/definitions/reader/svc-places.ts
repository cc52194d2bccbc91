const IN_ACTION = 'svc:action';

/** Where each of our elements may stand: in the extension elements of these kinds, or in another one of ours. */
const PLACES: Readonly<Record<string, readonly string[] | string>> = {
  inputSchema: ['process'],
  actions: ['task', 'serviceTask', 'userTask', 'sendTask'],
  uiActions: ['userTask'],
  action: 'svc:actions',
  path: IN_ACTION,
  data: IN_ACTION,
  input: IN_ACTION,
  payload: IN_ACTION,
  uiAction: 'svc:uiActions',
  body: 'svc:uiAction',
  bodySchema: 'svc:uiAction',
};

/** The kinds of elements in which one of our extension elements may stand; none when it stands elsewhere or is unknown. */
export function hostsOf(name: string): readonly string[] {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  return typeof place === 'object' ? place : [];
}

/**
 * Where one of our elements may stand, for an author.
 * @param name without prefix, as in the file: `uiAction`
 * @returns undefined when we have no such element
 */
export function placeOf(name: string): string | undefined {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  return typeof place === 'object' ? `the extensionElements of: ${place.join(', ')}` : place;
}

/** Names of our elements, without prefix. */
export const SVC_ELEMENTS: readonly string[] = Object.keys(PLACES);
