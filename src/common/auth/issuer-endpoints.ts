/** Endpoints of an issuer that its discovery document names (OpenID Connect Discovery 1.0, section 3; RFC 8414). */
const CALLED = ['token_endpoint', 'revocation_endpoint', 'jwks_uri'] as const;
const SHOWN = ['authorization_endpoint'] as const;
/** What else an address may have for a host would mean something in a policy, such as `*` and `;`. */
const HOST = /^([a-z\d._-]+|\[[a-f\d:]+\])$/;

/**
 * At which origins a browser finds an issuer. Many have all at one; some have the endpoint for tokens elsewhere. What a document names
 * counts only where it is an origin of http or https with a plain host, and http only where the issuer itself is at http.
 */
export class IssuerEndpoints {
  private document: Readonly<Record<string, unknown>> = {};

  /** @param issuer its identifier, from the settings */
  constructor(private readonly issuer: string) {}

  /** Takes over what the issuer says of itself: the document was got from the issuer, and names it. */
  take(document: object): void {
    this.document = { ...document };
  }

  /** Where a page that signs people in sends requests. */
  get called(): readonly string[] {
    return this.originsOf(CALLED);
  }

  /** Where such a page leads a frame. */
  get shown(): readonly string[] {
    return this.originsOf(SHOWN);
  }

  private originsOf(names: readonly string[]): readonly string[] {
    const protocols = this.issuer.startsWith('http:') ? ['https:', 'http:'] : ['https:'];
    const addresses = [this.issuer, ...names.map((name) => this.document[name])];
    return [...new Set(addresses.flatMap((address) => originOf(address, protocols)))];
  }
}

function originOf(address: unknown, protocols: readonly string[]): string[] {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  return url !== null && protocols.includes(url.protocol) && HOST.test(url.hostname) ? [url.origin] : [];
}
