import type { HttpAnswer } from './http-answer.js';
import type { ProbeWarning } from '../../model/probe.js';

/** A request of a probe; bodies are text. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Says of what has come of the body that it is enough; event streams need not end. */
  isComplete?: (body: string) => boolean;
}

/** How the requests of one probe reach the component. */
export interface HttpTransport {
  /** @throws what the client throws; never follows a redirect, which is an answer like any other or an error */
  send(url: URL, request: HttpRequest): Promise<HttpAnswer>;
  /** What the connections themselves showed. */
  warnings(): ProbeWarning[];
}

/** Statuses that send the client elsewhere. */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
