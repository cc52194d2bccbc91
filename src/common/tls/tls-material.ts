/**
 * What the connections of one party are opened with: what it adds to TLS, and the application whose egress rules hold. It is used for the
 * connections of this party only. Plain data, so that it can go to a worker.
 */
export interface TlsMaterial {
  /** Application of the party; without one only the rules for all applications hold. */
  readonly app?: string;
  /** Certificates (PEM) of the authorities that are trusted, in place of the built-in ones. */
  readonly ca?: string;
  /** Certificate of the client and its chain (PEM), shown where the server asks for it. */
  readonly cert?: string;
  /** Its private key (PEM): a secret. */
  readonly key?: string;
}

/** Text that is equal for equal material, to be hashed beside other parts of a key: it holds the private key. */
export function materialText({ app, ca, cert, key }: TlsMaterial = {}): readonly (string | null)[] {
  return [app ?? null, ca ?? null, cert ?? null, key ?? null];
}
