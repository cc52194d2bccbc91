import { computed, signal } from '@preact/signals';
import { connect, type Caller, type SvcClient } from '../../../client/src/index.js';
import type { Settings } from './settings.js';

/** A way to sign in: where tokens come from. They are held in memory only. */
export interface SignedIn {
  /** A token that is good now; it is renewed where that is due. */
  token(): Promise<string>;
  /** Ends it here and, where there is one, at the issuer. */
  signOut(): Promise<void>;
}

/** Whether somebody is signed in, and who. */
export type Session =
  | { state: 'starting' }
  | { state: 'signed-out'; error?: unknown }
  | { state: 'signed-in'; caller: Caller; client: SvcClient; means: SignedIn };

/** The session of this tab. */
export const session = signal<Session>({ state: 'starting' });

/** What the service said before anybody signed in; null until it has. */
export const settings = signal<Settings | null>(null);

/** Whether the service no longer accepts the token, or it could not be renewed. */
export const hasEnded = signal(false);

/** Counts sign-ins, so that what was refused before the last one is asked for again. */
export const signIns = signal(0);

/** Who is signed in; null when nobody is. */
export const caller = computed(() => (session.value.state === 'signed-in' ? session.value.caller : null));

const UNAUTHORIZED = 401;

/** Begins a session: asks the service who it is. */
export async function begin(means: SignedIn): Promise<void> {
  const client = connect({ url: location.origin, token: () => means.token(), fetch: watching(means) });
  const { data } = await client.getCaller();
  hasEnded.value = false;
  session.value = { state: 'signed-in', caller: data, client, means };
  signIns.value += 1;
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  const { value } = session;
  session.value = { state: 'signed-out' };
  if (value.state === 'signed-in') {
    await value.means.signOut();
  }
}

/**
 * The client of the service, as whoever is signed in.
 * @throws Error where nobody is: pages are shown to those who have signed in
 */
export function api(): SvcClient {
  const { value } = session;
  if (value.state !== 'signed-in') {
    throw new Error('nobody is signed in');
  }
  return value.client;
}

/** A fetch that notices whether the service still accepts the tokens. Late answers of an earlier sign-in say nothing of this one. */
function watching(means: SignedIn): typeof fetch {
  let isRefused = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    const { value } = session;
    if (value.state === 'signed-in' && value.means === means) {
      const wasRefused = isRefused;
      isRefused = response.status === UNAUTHORIZED;
      // A failed renewal is not taken back by answers for the old token.
      if (isRefused || wasRefused) {
        hasEnded.value = isRefused;
      }
    }
    return response;
  };
}
