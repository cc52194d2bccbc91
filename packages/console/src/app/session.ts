import { computed, signal } from '@preact/signals';
import { connect, type Caller, type ConsoleSettings, type SvcClient } from '../../../client/src/index.js';

/** Source of access tokens. It keeps them in memory only. */
export interface TokenSource {
  /** Returns a valid token, renewed if necessary. */
  token(): Promise<string>;
  /** Ends the session here and at the issuer, if there is one. */
  signOut(): Promise<void>;
}

/** State of the sign-in. */
export type Session =
  | { state: 'starting' }
  | { state: 'signed-out'; error?: unknown }
  | { state: 'signed-in'; caller: Caller; client: SvcClient; tokens: TokenSource };

/** The session of this tab. */
export const session = signal<Session>({ state: 'starting' });

/** Settings of the console; null until they are loaded. */
export const settings = signal<ConsoleSettings | null>(null);

/** Whether the service no longer accepts the token, or the token could not be renewed. */
export const hasEnded = signal(false);

/** Number of sign-ins. Hooks depend on it to repeat requests that were refused before. */
export const signIns = signal(0);

/** The signed-in caller, or null. */
export const caller = computed(() => (session.value.state === 'signed-in' ? session.value.caller : null));

const UNAUTHORIZED = 401;

/** Opens a session and reads the caller from the service. */
export async function openSession(tokens: TokenSource): Promise<void> {
  const client = connect({ url: location.origin, token: () => tokens.token(), fetch: watchedFetch(tokens) });
  const { data } = await client.getCaller();
  hasEnded.value = false;
  session.value = { state: 'signed-in', caller: data, client, tokens };
  signIns.value += 1;
}

export async function signOut(): Promise<void> {
  const { value } = session;
  session.value = { state: 'signed-out' };
  if (value.state === 'signed-in') {
    await value.tokens.signOut();
  }
}

/**
 * Returns the client of the signed-in user.
 * @throws Error when no user is signed in; pages are only shown to signed-in users
 */
export function api(): SvcClient {
  const { value } = session;
  if (value.state !== 'signed-in') {
    throw new Error('no user is signed in');
  }
  return value.client;
}

/** Wraps `fetch` to notice when the service no longer accepts the tokens. Ignores late responses to an earlier session. */
function watchedFetch(tokens: TokenSource): typeof fetch {
  let isRefused = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    const { value } = session;
    if (value.state === 'signed-in' && value.tokens === tokens) {
      const wasRefused = isRefused;
      isRefused = response.status === UNAUTHORIZED;
      // A success with the old token does not undo a failed renewal.
      if (isRefused || wasRefused) {
        hasEnded.value = isRefused;
      }
    }
    return response;
  };
}
