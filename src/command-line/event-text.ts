import type { HistoryEvent } from '../../clients/typescript/src/index.js';

/** The node of an event: an element without a name is told by its id in the BPMN file. */
export function nodeOf({ nodeName, bpmnElementId }: HistoryEvent): string | null {
  return nodeName ?? bpmnElementId;
}

/** What happened: an error with its code, which an error boundary event would name, and an incident with its type. */
export function eventText({ kind, data }: HistoryEvent): string {
  const what = { ERROR_THROWN: data?.['code'], INCIDENT_RAISED: data?.['type'] }[kind as string];
  return typeof what === 'string' ? `${kind} ${what}` : kind;
}
