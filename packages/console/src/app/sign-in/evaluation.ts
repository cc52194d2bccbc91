import { NoAnswerError, ServiceError } from '../../../../client/src/index.js';
import { begin, type SignedIn } from '../session.js';
import { keep, kept } from './kept.js';

const PATH = '/console/evaluation/sign-in';
const LAST = 'svc-console evaluation';
/** A token is renewed when it has less than this left. */
const MARGIN_MS = 60_000;
const SECOND_MS = 1_000;

/** Whom somebody wants to be in evaluation mode. */
export interface Person {
  subject: string;
  /** Names of permissions. */
  permissions: readonly string[];
}

/** Which permissions a person can have. */
export async function knownPermissions(): Promise<readonly string[]> {
  return ((await ask('GET')) as { permissions: string[] }).permissions;
}

/** Signs in as a person. */
export async function signInAs(person: Person): Promise<void> {
  await begin(meansOf(person));
  keep(LAST, JSON.stringify(person), true);
}

/** Signs in as the last person of this tab or, in a new tab, of the browser. @returns whether there is one */
export async function signInAgain(): Promise<boolean> {
  const last = kept(LAST, true);
  if (last === null) {
    return false;
  }
  await signInAs(JSON.parse(last) as Person);
  return true;
}

function meansOf(person: Person): SignedIn {
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
      keep(LAST, null, true);
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
