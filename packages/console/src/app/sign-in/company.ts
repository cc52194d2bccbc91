import {
  ErrorResponse,
  InMemoryWebStorage,
  UserManager,
  WebStorageStateStore,
  type User,
} from 'oidc-client-ts';
import { href, navigate, place } from '../router.js';
import { begin, hasEnded, type SignedIn } from '../session.js';
import type { Settings } from '../settings.js';
import { IdTokenError, SignInRefusedError } from './errors.js';
import { IdTokens } from './id-token.js';
import { keep, kept } from './kept.js';

/** Where the issuer sends a person back, and where it answers within a frame. */
const RETURN_PATH = '/signed-in';
const SILENT_PATH = '/silent';
/** Says that somebody was signed in in this tab, so that a reload signs in again without a click. */
const WAS_SIGNED_IN = 'svc-console signed in';

/** For an answer of the issuer. */
const ISSUER_SECONDS = 20;
/** So long before its end a token is renewed. */
const RENEWAL_SECONDS = 30;

/** Signs people in at the issuer of the company: authorization code with PKCE. Tokens never leave the memory of the tab. */
export class CompanySignIn {
  private readonly manager: UserManager;
  private renewing: Promise<User | null> | undefined;
  private idTokens: IdTokens | undefined;

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
      // What is known of a sign-in that is under way, such as its code verifier; no token.
      stateStore: new WebStorageStateStore({ store: sessionStorage, prefix: 'svc-console.' }),
      userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
      // By what is below, since a renewal is made once for all.
      automaticSilentRenew: false,
      accessTokenExpiringNotificationTimeInSeconds: RENEWAL_SECONDS,
      monitorSession: false,
      loadUserInfo: false,
      requestTimeoutInSeconds: ISSUER_SECONDS,
    });
    this.manager.events.addAccessTokenExpiring(() => void this.renewed());
  }

  static of({ issuer, clientId, scope }: Settings): CompanySignIn | undefined {
    return clientId === null ? undefined : new CompanySignIn(issuer, clientId, scope);
  }

  /**
   * Goes on with what the address says: the end of a sign-in, the answer within a frame, or a page that was loaded anew.
   * @returns whether the page need not be shown: it is a frame, or another page is about to come
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
    if (kept(WAS_SIGNED_IN) === null) {
      return false;
    }
    // Once: where the issuer lets nobody in, the person shall read why.
    keep(WAS_SIGNED_IN, null);
    await this.start();
    return true;
  }

  /** Leads to the issuer. */
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
      const user = await this.checked(this.manager.signinRedirectCallback());
      navigate(typeof user.state === 'string' ? user.state : '/', { replace: true });
      await begin(this.means());
      keep(WAS_SIGNED_IN, 'yes');
    } catch (error) {
      navigate('/', { replace: true });
      throw error;
    }
  }

  /**
   * The user of a sign-in, once the ID token is verified; otherwise the user is forgotten.
   * @throws SignInRefusedError
   * @throws IdTokenError
   */
  private async checked(signingIn: Promise<User>): Promise<User> {
    try {
      const user = await signingIn;
      if (user.id_token !== undefined) {
        await (await this.verifier()).verify(user.id_token);
      }
      return user;
    } catch (error) {
      await this.manager.removeUser();
      throw told(error);
    }
  }

  private async verifier(): Promise<IdTokens> {
    const keysUrl = await this.manager.metadataService.getKeysEndpoint(false);
    this.idTokens ??= new IdTokens(this.issuer, this.clientId, keysUrl);
    return this.idTokens;
  }

  private means(): SignedIn {
    return {
      token: async () => (await this.user()).access_token,
      signOut: async () => {
        keep(WAS_SIGNED_IN, null);
        // An issuer that names no endpoint for it, or does not answer, keeps nobody from going.
        await this.manager.revokeTokens(['refresh_token']).catch(() => undefined);
        await this.manager.signoutRedirect().catch(() => this.manager.removeUser());
      },
    };
  }

  /** Once for all requests that wait for it: an issuer may take a refresh token once only. */
  private renewed(): Promise<User | null> {
    const silent = (): Promise<User | null> => this.manager.signinSilent({ nonce: crypto.randomUUID() });
    this.renewing ??= silent()
      .then((user) => (user === null ? null : this.checked(Promise.resolve(user))))
      .catch(() => null)
      .then((user) => {
        this.renewing = undefined;
        hasEnded.value = user === null;
        return user;
      });
    return this.renewing;
  }

  /** With a token that is still good, as far as the clock of this machine can tell; otherwise the service says that it is not. */
  private async user(): Promise<User> {
    const user = await this.manager.getUser();
    if (user !== null && user.expired !== true) {
      return user;
    }
    const last = (await this.renewed()) ?? user;
    if (last === null) {
      throw new Error('nobody is signed in');
    }
    return last;
  }
}

/** Errors of the library, as ours where they have a meaning for people. */
function told(error: unknown): unknown {
  if (error instanceof ErrorResponse) {
    return new SignInRefusedError(error.error ?? '', error.error_description, { cause: error });
  }
  // The library reports what it checks itself, such as the nonce, only in words.
  const isNonce = error instanceof Error && /nonce/.test(error.message);
  const isIdToken = error instanceof Error && /token/i.test(error.message);
  if (error instanceof IdTokenError || !(isNonce || isIdToken)) {
    return error;
  }
  return new IdTokenError(isNonce ? 'nonce' : 'form', { cause: error });
}
