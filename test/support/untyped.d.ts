/** The part of oidc-provider that tests use. The package has no type declarations. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export namespace errors {
    class InvalidTarget extends Error {}
  }

  /** Scopes that a user has granted to a client. */
  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
    destroy(): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: {
      new (owner: { clientId: string; accountId: string | undefined }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
    use(
      middleware: (context: { path: string; body: unknown }, next: () => Promise<void>) => Promise<void>,
    ): void;
    callback(): RequestListener;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}

declare module 's3rver' {
  export default class S3rver {
    constructor(options: Record<string, unknown>);
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
