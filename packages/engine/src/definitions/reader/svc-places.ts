const IN_ACTION = 'svc:action';

/** Allowed parents of each svc element: the extension elements of some BPMN kinds, or another svc element. */
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

/** Returns the kinds of elements that may contain an svc element; an empty list if it belongs elsewhere or is unknown. */
export function hostsOf(name: string): readonly string[] {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  return typeof place === 'object' ? place : [];
}

/**
 * Describes for authors where an svc element belongs.
 * @param name without prefix, as in the file: `uiAction`
 * @returns undefined when there is no such element
 */
export function placeOf(name: string): string | undefined {
  const place = Object.hasOwn(PLACES, name) ? PLACES[name] : undefined;
  return typeof place === 'object' ? `the extensionElements of: ${place.join(', ')}` : place;
}

/** Names of svc elements, without prefix. */
export const SVC_ELEMENTS: readonly string[] = Object.keys(PLACES);
