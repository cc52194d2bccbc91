import type { Principal } from '../../../common/user/principal.js';

/** Where the events of one connection go. */
export interface ProgressSink {
  /** Resolves when there is room for more, or nobody listens any more. */
  write(text: string): Promise<void>;
  end(): void;
}

/** Which instance somebody follows, and from where. */
export interface ProgressRequest {
  uuid: string;
  /** Header `Last-Event-ID`: number of the last event that the caller knows. */
  lastEventId: string | undefined;
  /** When the token of the caller expires, in milliseconds since 1970. */
  expiresAt: number;
  /**
   * Recognises the caller again.
   * @throws UnauthorizedError when the token would not be taken now
   */
  recheck(): Promise<Principal>;
}
