import { NoAnswerError, ServiceError } from '../../../../client/src/index.js';
import { openSession, type TokenSource } from '../session.js';
import { loadItem, saveItem } from './storage.js';

const PATH = '/console/evaluation/sign-in';
const LAST = 'svc-console evaluation';
/** Remaining lifetime below which a token is renewed. */
const MARGIN_MS = 60_000;
const SECOND_MS = 1_000;

/** User chosen in evaluation mode. */
export interface Person {
  subject: string;
  /** Names of permissions. */
  permissions: readonly string[];
}

/** Lists the permissions that a user can have. */
export async function knownPermissions(): Promise<readonly string[]> {
  return ((await ask('GET')) as { permissions: string[] }).permissions;
}

/** Signs in as a user. */
export async function signInAs(person: Person): Promise<void> {
  await openSession(tokensOf(person));
  saveItem(LAST, JSON.stringify(person), true);
}

/** Signs in as the last user of this tab or, in a new tab, of the browser. @returns whether there is one */
export async function signInAgain(): Promise<boolean> {
  const last = loadItem(LAST, true);
  if (last === null) {
    return false;
  }
  await signInAs(JSON.parse(last) as Person);
  return true;
}

function tokensOf(person: Person): TokenSource {
  let held: { token: string; until: number } | undefined;
  return {
    async token() {
      if (held === undefined || held.until - MARGIN_MS < Date.now()) {
        const answer = (await ask('POST', person)) as { accessToken: string; expiresIn: number };
        held = { token: answer.accessToken, until: Date.now() + answer.expiresIn * SECOND_MS };
      }
      return held.token;
    },
    signOut() {
      saveItem(LAST, null, true);
      return Promise.resolve();
    },
  };
}

async function ask(method: 'GET' | 'POST', body?: Person): Promise<unknown> {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const response = await fetch(PATH, { method, ...sent }).catch((cause: unknown) => {
    throw new NoAnswerError(location.origin, undefined, { cause });
  });
  if (!response.ok) {
    throw await ServiceError.of(response);
  }
  return response.json();
}
