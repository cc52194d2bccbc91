import { computed, signal } from '@preact/signals';
import { connect, type Caller, type SvcClient } from '../../../clients/typescript/src/index.js';
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

/** Whether the service takes the token no more, and none could be had in its place. */
export const hasEnded = signal(false);

/** Who is signed in; null when nobody is. */
export const caller = computed(() => (session.value.state === 'signed-in' ? session.value.caller : null));

const UNAUTHORIZED = 401;

/** Begins a session: asks the service who it is. */
export async function begin(means: SignedIn): Promise<void> {
  const client = connect({ url: location.origin, token: () => means.token(), fetch: watching });
  const { data } = await client.getCaller();
  hasEnded.value = false;
  session.value = { state: 'signed-in', caller: data, client, means };
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

/** Notices where the service takes the token no more. */
const watching: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === UNAUTHORIZED) {
    hasEnded.value = true;
  }
  return response;
};
