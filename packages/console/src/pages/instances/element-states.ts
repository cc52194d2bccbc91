import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import type { Mark } from '../../diagram/mark.js';
import { texts } from '../../texts/texts.js';
import { flowsOf, type Flow } from './bpmn-file.js';

/** State of an instance at one element of its process. */
export interface ElementState {
  elementId: string;
  name: string | null;
  /** Number of times that tokens entered. */
  entered: number;
  /** Number of tokens there now. */
  tokens: number;
  incidents: number;
}

const t = texts.instances;

/** Returns the state of each element in order of entry. @param events newest first */
export function elementStates(
  { tokens, incidents }: Pick<InstanceResponse, 'tokens' | 'incidents'>,
  events: readonly HistoryEvent[],
): readonly ElementState[] {
  const states = new Map<string, ElementState>();
  const at = (elementId: string | null, name: string | null): ElementState | undefined => {
    if (elementId === null) {
      return undefined;
    }
    const known = states.get(elementId) ?? { elementId, name, entered: 0, tokens: 0, incidents: 0 };
    states.set(elementId, known);
    return known;
  };
  const add = (state: ElementState | undefined, what: 'entered' | 'tokens' | 'incidents'): void => {
    if (state !== undefined) {
      state[what] += 1;
    }
  };
  entries(events).forEach((event) => add(at(event.bpmnElementId, event.nodeName), 'entered'));
  tokens
    .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
    .forEach((token) => add(at(token.bpmnElementId, token.currentNodeName), 'tokens'));
  incidents.forEach((incident) => add(at(incident.bpmnElementId, incident.nodeName), 'incidents'));
  return [...states.values()];
}

/** Lists the entries of tokens, oldest first, without tokens that were merged into another one at a join. */
function entries(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const left = new Set(
    events.filter(({ kind }) => kind === 'NODE_LEFT').map(({ bpmnElementId }) => bpmnElementId),
  );
  const merged = new Set(
    events
      .filter(({ kind, data }) => kind === 'TOKEN_STATE' && data?.['to'] === 'INACTIVE')
      .filter(({ bpmnElementId }) => left.has(bpmnElementId))
      .map(({ tokenUuid, bpmnElementId }) => `${tokenUuid} ${bpmnElementId}`),
  );
  return events
    .filter(({ kind }) => kind === 'NODE_ENTERED')
    .filter(({ tokenUuid, bpmnElementId }) => !merged.has(`${tokenUuid} ${bpmnElementId}`))
    .toReversed();
}

/** Returns diagram marks for entered elements, with counts, and for the flows taken. */
export function marksOf(
  states: readonly ElementState[],
  events: readonly HistoryEvent[],
  xml: string,
): readonly Mark[] {
  const elements = states.map((state) => ({
    elementId: state.elementId,
    className: classOf(state),
    text: String(state.entered === 0 ? state.tokens : state.entered),
    title: t.elementTitle(state.entered, state.tokens, state.incidents),
  }));
  const flows = takenFlows(flowsOf(xml), events).map((elementId) => ({ elementId, className: 'is-passed' }));
  return [...flows, ...elements];
}

function classOf({ tokens, incidents }: ElementState): string {
  if (incidents > 0) {
    return 'is-stopped';
  }
  return tokens > 0 ? 'is-active' : 'is-passed';
}

/**
 * Lists the flows taken: their source was left before their target was last entered. Tokens are not compared, because gateways split
 * and join them.
 */
function takenFlows(flows: readonly Flow[], events: readonly HistoryEvent[]): string[] {
  const left = new Map<string, number>();
  const entered = new Map<string, number>();
  for (const { kind, bpmnElementId, seq } of events) {
    if (bpmnElementId === null) {
      continue;
    }
    if (kind === 'NODE_LEFT') {
      // Events are newest first, so this keeps the oldest.
      left.set(bpmnElementId, seq);
    } else if (kind === 'NODE_ENTERED' && !entered.has(bpmnElementId)) {
      entered.set(bpmnElementId, seq);
    }
  }
  return flows
    .filter(({ source, target }) => (left.get(source) ?? Infinity) < (entered.get(target) ?? -1))
    .map(({ id }) => id);
}
