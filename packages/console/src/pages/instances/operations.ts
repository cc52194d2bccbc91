import { api } from '../../app/session.js';
import { texts } from '../../texts/texts.js';

/** Operation on an instance. */
export type OperationName = 'hold' | 'release' | 'retry' | 'terminate';

export const OPERATIONS: readonly OperationName[] = ['hold', 'release', 'retry', 'terminate'];

/** Outcome of an operation as text; `isPartly` if only part of it succeeded. */
export interface Done {
  text: string;
  isPartly: boolean;
}

const { outcomes } = texts.instances;

/** Runs an operation and describes the outcome. @param data corrections of the data, for a retry */
export async function operate(name: OperationName, uuid: string, data?: object): Promise<Done> {
  const path = { path: { uuid } };
  switch (name) {
    case 'hold':
      return whole((await api().holdProcessInstance(path)).data.state);
    case 'release':
      return whole((await api().releaseProcessInstance(path)).data.state);
    case 'terminate':
      return whole((await api().terminateProcessInstance(path)).data.state);
    case 'retry': {
      const { data: answer } = await api().retryProcessInstance({ ...path, body: retryBody(data) });
      const { state, retriedIncidents, notRetried = [] } = answer;
      const left = notRetried.map(({ message }) => message).join(' ');
      return notRetried.length === 0
        ? { text: outcomes.retried(retriedIncidents.length, stateName(state)), isPartly: false }
        : { text: outcomes.partly(retriedIncidents.length, notRetried.length, left), isPartly: true };
    }
  }
}

/** Builds the request body of a retry. */
export function retryBody(data: object | undefined): { data?: Record<string, unknown> } {
  return data === undefined || Object.keys(data).length === 0 ? {} : { data: { ...data } };
}

function whole(state: string): Done {
  return { text: outcomes.now(stateName(state)), isPartly: false };
}

function stateName(state: string): string {
  return state.toLowerCase();
}
