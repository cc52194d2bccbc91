import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import type { Mark } from '../../diagram/mark.js';
import { texts } from '../../texts/texts.js';
import { flowsOf, type Flow } from './bpmn-file.js';

/** What an instance has done at one element of its process, and what stands there now. */
export interface ElementState {
  elementId: string;
  name: string | null;
  /** How often a token came. */
  entered: number;
  /** Tokens that are there now. */
  tokens: number;
  incidents: number;
}

const t = texts.instances;

/** What is to be said of each element, in the order in which they were entered. @param events newest first */
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
  comings(events).forEach((event) => add(at(event.bpmnElementId, event.nodeName), 'entered'));
  tokens
    .filter(({ state }) => state === 'ACTIVE' || state === 'ON_HOLD')
    .forEach((token) => add(at(token.bpmnElementId, token.currentNodeName), 'tokens'));
  incidents.forEach((incident) => add(at(incident.bpmnElementId, incident.nodeName), 'incidents'));
  return [...states.values()];
}

/** Each time that a token came to a node and was not used up there, as those are that meet at a join; oldest first. */
function comings(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const left = new Set(
    events.filter(({ kind }) => kind === 'NODE_LEFT').map(({ bpmnElementId }) => bpmnElementId),
  );
  const usedUp = new Set(
    events
      .filter(({ kind, data }) => kind === 'TOKEN_STATE' && data?.['to'] === 'INACTIVE')
      .filter(({ bpmnElementId }) => left.has(bpmnElementId))
      .map(({ tokenUuid, bpmnElementId }) => `${tokenUuid} ${bpmnElementId}`),
  );
  return events
    .filter(({ kind }) => kind === 'NODE_ENTERED')
    .filter(({ tokenUuid, bpmnElementId }) => !usedUp.has(`${tokenUuid} ${bpmnElementId}`))
    .toReversed();
}

/** Marks for a diagram: elements with how often they were entered, and the flows that tokens took. */
export function marksOf(
  states: readonly ElementState[],
  events: readonly HistoryEvent[],
  xml: string,
): readonly Mark[] {
  const elements = states.map((state) => ({
    elementId: state.elementId,
    className: classOf(state),
    text: String(state.entered === 0 ? state.tokens : state.entered),
    title: t.elementTold(state.entered, state.tokens, state.incidents),
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
 * Flows between an element that was left and one that was entered next: by the same token, or, at a gateway that splits and joins, by
 * another one.
 */
function takenFlows(flows: readonly Flow[], events: readonly HistoryEvent[]): string[] {
  const left = new Map<string, number>();
  const entered = new Map<string, number>();
  for (const { kind, bpmnElementId, seq } of events) {
    if (bpmnElementId === null) {
      continue;
    }
    if (kind === 'NODE_LEFT') {
      // Newest first, so the first time that it was left stays.
      left.set(bpmnElementId, seq);
    } else if (kind === 'NODE_ENTERED' && !entered.has(bpmnElementId)) {
      entered.set(bpmnElementId, seq);
    }
  }
  return flows
    .filter(({ source, target }) => (left.get(source) ?? Infinity) < (entered.get(target) ?? -1))
    .map(({ id }) => id);
}
