import { api } from '../../app/session.js';
import { texts } from '../../texts/texts.js';

/** What an administrator does to an instance. */
export type OperationName = 'hold' | 'release' | 'retry' | 'terminate';

export const OPERATIONS: readonly OperationName[] = ['hold', 'release', 'retry', 'terminate'];

/** What came of one, in words; `isPartly` where not all of it was done. */
export interface Done {
  text: string;
  isPartly: boolean;
}

const { outcomes } = texts.instances;

/** Does it once, and says what came of it. @param data corrections of the data, for a retry */
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
      const { data: answer } = await api().retryProcessInstance({ ...path, body: correcting(data) });
      const { state, retriedIncidents, notRetried = [] } = answer;
      const left = notRetried.map(({ message }) => message).join(' ');
      return notRetried.length === 0
        ? { text: outcomes.retried(retriedIncidents.length, stateName(state)), isPartly: false }
        : { text: outcomes.partly(retriedIncidents.length, notRetried.length, left), isPartly: true };
    }
  }
}

/** The body of a retry. */
export function correcting(data: object | undefined): { data?: Record<string, unknown> } {
  return data === undefined || Object.keys(data).length === 0 ? {} : { data: { ...data } };
}

function whole(state: string): Done {
  return { text: outcomes.now(stateName(state)), isPartly: false };
}

function stateName(state: string): string {
  return state.toLowerCase();
}
