import type { Shared } from '../../../common/redis/redis.service.js';
import type { SecretCipher, SecretPlace } from '../../../common/secrets/secret-cipher.js';
import type { AccessToken, TokenStore } from '../worker/oauth-token.client.js';

const placeOf = (key: string): SecretPlace => ({ table: 'redis', rowId: key, column: 'access_token' });

/**
 * Access tokens that replicas share: sealed with SECRETS_KEYS, each for its own key, until it is used no more. One that cannot be had or
 * opened is asked for at its endpoint.
 */
export class SharedTokens implements TokenStore {
  constructor(
    private readonly shared: Shared,
    private readonly cipher: SecretCipher,
  ) {}

  async find(name: string): Promise<AccessToken | undefined> {
    const key = this.keyOf(name);
    try {
      const sealed = await this.shared.redis.ask((client) => client.get(key));
      return sealed === null
        ? undefined
        : (JSON.parse(this.cipher.open(sealed, placeOf(key))) as AccessToken);
    } catch {
      return undefined;
    }
  }

  keep(name: string, token: AccessToken): void {
    const lifeMs = Math.floor(token.usableUntil - Date.now());
    if (lifeMs > 0) {
      const key = this.keyOf(name);
      const sealed = this.cipher.seal(JSON.stringify(token), placeOf(key));
      void this.shared.redis.ask((client) => client.set(key, sealed, 'PX', lifeMs)).catch(() => undefined);
    }
  }

  drop(name: string): void {
    void this.shared.redis.ask((client) => client.del(this.keyOf(name))).catch(() => undefined);
  }

  private keyOf(name: string): string {
    return this.shared.keyOf('token', name);
  }
}
