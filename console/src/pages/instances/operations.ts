import { ServiceError } from '../../../../clients/typescript/src/index.js';
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
const TOO_MANY = 429;
/** A service that is busy is asked so often. */
const MOST_TRIES = 5;
const SECOND_MS = 1_000;

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

/** The same, patient with a service that has too much to do. */
export async function operatePatiently(
  name: OperationName,
  uuid: string,
  { data, signal }: { data?: object | undefined; signal: AbortSignal },
): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await operate(name, uuid, data);
    } catch (error) {
      const isBusy = error instanceof ServiceError && error.status === TOO_MANY;
      if (!isBusy || tries >= MOST_TRIES || signal.aborted) {
        throw error;
      }
      await pause((error.retryAfterSeconds ?? 1) * SECOND_MS);
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
