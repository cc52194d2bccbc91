import {
  ErrorResponse,
  InMemoryWebStorage,
  UserManager,
  WebStorageStateStore,
  type User,
} from 'oidc-client-ts';
import type { ConsoleSettings } from '../../../../client/src/index.js';
import { href, navigate, place } from '../router.js';
import { hasEnded, openSession, type TokenSource } from '../session.js';
import { IdTokenError, SignInRefusedError } from './errors.js';
import { IdTokenVerifier } from './id-token.js';
import { loadItem, saveItem } from './storage.js';

/** Redirect paths: after a sign-in, and for renewal within a frame. */
const RETURN_PATH = '/signed-in';
const SILENT_PATH = '/silent';
/** Storage key: set while this tab is signed in, so a reload signs in again without a click. */
const WAS_SIGNED_IN = 'svc-console signed in';

/** Timeout of requests to the issuer. */
const ISSUER_SECONDS = 20;
/** Time before expiry at which a token is renewed. */
const RENEWAL_SECONDS = 30;

/** Signs users in at the company's issuer by authorization code with PKCE. Tokens stay in the memory of the tab. */
export class CompanySignIn {
  private readonly manager: UserManager;
  private renewing: Promise<User | null> | undefined;
  private idTokenVerifier: IdTokenVerifier | undefined;

  private constructor(
    private readonly issuer: string,
    private readonly clientId: string,
    scope: string,
  ) {
    const { origin } = location;
    this.manager = new UserManager({
      authority: issuer,
      client_id: clientId,
      scope,
      redirect_uri: origin + href(RETURN_PATH),
      silent_redirect_uri: origin + href(SILENT_PATH),
      post_logout_redirect_uri: origin + href('/'),
      response_type: 'code',
      // State of a sign-in in progress, such as its code verifier. Never a token.
      stateStore: new WebStorageStateStore({ store: sessionStorage, prefix: 'svc-console.' }),
      userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
      // Renewed below instead, so all requests share one renewal.
      automaticSilentRenew: false,
      accessTokenExpiringNotificationTimeInSeconds: RENEWAL_SECONDS,
      monitorSession: false,
      loadUserInfo: false,
      requestTimeoutInSeconds: ISSUER_SECONDS,
    });
    this.manager.events.addAccessTokenExpiring(() => void this.renew());
  }

  static of({ issuer, clientId, scope }: ConsoleSettings): CompanySignIn | undefined {
    return clientId === null ? undefined : new CompanySignIn(issuer, clientId, scope);
  }

  /**
   * Handles the current address: the end of a sign-in, a renewal within a frame, or a reloaded page.
   * @returns whether the page is not needed, because it is in a frame or a redirect follows
   */
  async resume(): Promise<boolean> {
    const { path } = place.peek();
    if (path === SILENT_PATH) {
      await this.manager.signinSilentCallback();
      return true;
    }
    if (path === RETURN_PATH) {
      await this.finish();
      return false;
    }
    if (loadItem(WAS_SIGNED_IN) === null) {
      return false;
    }
    // Only once, so the user can read why if the issuer refuses.
    saveItem(WAS_SIGNED_IN, null);
    await this.start();
    return true;
  }

  /** Redirects to the issuer. */
  async start(): Promise<void> {
    const { path, query } = place.peek();
    const text = query.toString();
    await this.manager.signinRedirect({
      state: text === '' ? path : `${path}?${text}`,
      nonce: crypto.randomUUID(),
    });
  }

  private async finish(): Promise<void> {
    try {
      const user = await this.verified(this.manager.signinRedirectCallback());
      navigate(typeof user.state === 'string' ? user.state : '/', { replace: true });
      await openSession(this.tokens());
      saveItem(WAS_SIGNED_IN, 'yes');
    } catch (error) {
      navigate('/', { replace: true });
      throw error;
    }
  }

  /**
   * Returns the user of a sign-in after verifying the ID token. Forgets the user if that fails.
   * @throws SignInRefusedError
   * @throws IdTokenError
   */
  private async verified(signingIn: Promise<User>): Promise<User> {
    try {
      const user = await signingIn;
      if (user.id_token !== undefined) {
        await (await this.verifier()).verify(user.id_token);
      }
      return user;
    } catch (error) {
      await this.manager.removeUser();
      throw translateError(error);
    }
  }

  private async verifier(): Promise<IdTokenVerifier> {
    const keysUrl = await this.manager.metadataService.getKeysEndpoint(false);
    this.idTokenVerifier ??= new IdTokenVerifier(this.issuer, this.clientId, keysUrl);
    return this.idTokenVerifier;
  }

  private tokens(): TokenSource {
    return {
      token: async () => (await this.currentUser()).access_token,
      signOut: async () => {
        saveItem(WAS_SIGNED_IN, null);
        // Signing out works even if the issuer has no endpoint for it or does not answer.
        await this.manager.revokeTokens(['refresh_token']).catch(() => undefined);
        await this.manager.signoutRedirect().catch(() => this.manager.removeUser());
      },
    };
  }

  /** Renews the tokens once for all waiting requests: an issuer may accept a refresh token only once. */
  private renew(): Promise<User | null> {
    const silent = (): Promise<User | null> => this.manager.signinSilent({ nonce: crypto.randomUUID() });
    this.renewing ??= silent()
      .then((user) => (user === null ? null : this.verified(Promise.resolve(user))))
      .catch(() => null)
      .then((user) => {
        this.renewing = undefined;
        hasEnded.value = user === null;
        return user;
      });
    return this.renewing;
  }

  /** Returns the user with a token that is valid by the local clock. If renewal fails, the service rejects the old token. */
  private async currentUser(): Promise<User> {
    const user = await this.manager.getUser();
    if (user !== null && user.expired !== true) {
      return user;
    }
    const last = (await this.renew()) ?? user;
    if (last === null) {
      throw new Error('no user is signed in');
    }
    return last;
  }
}

/** Translates errors of the library into those that the sign-in page explains. */
function translateError(error: unknown): unknown {
  if (error instanceof ErrorResponse) {
    return new SignInRefusedError(error.error ?? '', error.error_description, { cause: error });
  }
  // The library reports its own checks, such as that of the nonce, only in messages.
  const isNonce = error instanceof Error && /nonce/.test(error.message);
  const isIdToken = error instanceof Error && /token/i.test(error.message);
  if (error instanceof IdTokenError || !(isNonce || isIdToken)) {
    return error;
  }
  return new IdTokenError(isNonce ? 'nonce' : 'form', { cause: error });
}
