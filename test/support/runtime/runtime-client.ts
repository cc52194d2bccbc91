import type { TestApp, TestResponse } from '../app.js';
import type { Published } from './publish.js';
import { PATIENCE_MS } from '../patience.js';

/** A token in a response. */
export interface TokenBody {
  id: number;
  uuid: string;
  state: string;
  statusCurrentNode: string;
  visit: number;
  startNodeId: number | null;
  currentNodeId: number;
  currentNodeName: string | null;
  dateUpdated: string;
}

/** Response body of the start endpoint. */
export interface StartBody extends Record<string, unknown> {
  uuid: string;
  state: string;
  tokens: TokenBody[];
  instanceMetadata: { processInstanceId: number; processInstanceUuid: string };
  message?: string;
  details?: string;
  incident?: StopBody;
}

/** Incident in an error body. */
export interface StopBody {
  uuid: string | null;
  processInstanceUuid: string;
  code: string;
  bpmnElementId: string | null;
  message: string;
}

/** Response body of the execute endpoint. */
export interface UiActionBody extends Record<string, unknown> {
  tokenUuid: string;
  currentNodeId: number;
  templatesSequence: null;
  backAction: boolean;
  resetToken: boolean;
  message?: string;
  incident?: StopBody;
}

/** Options of a request. */
export interface CallOptions {
  token?: string | null;
  headers?: Record<string, string>;
  /** Value of the header Idempotency-Key. */
  key?: string;
  /** Sent unchanged, instead of a body. */
  rawBody?: string;
}

const PLATFORM = { 'svc-platform': 'web' };
const POLL_MS = 25;

/** Path of the start endpoint. */
export function startPath({ appId, buildId }: Pick<Published, 'appId' | 'buildId'>, name: string): string {
  return `/rtm/api/runtime/app/${appId}/build/${buildId}/process-name/${encodeURIComponent(name)}/start`;
}

/** Path of the execute endpoint. */
export function uiActionPath(processUuid: string, tokenUuid: string, uiAction: string): string {
  return `/onboarding/api/runtime/process/${processUuid}/token/${tokenUuid}/ui-action/${uiAction}/context/main/execute`;
}

/** Path of an instance. */
export function instancePath(uuid: string): string {
  return `/rtm/api/runtime/process-instance/${uuid}`;
}

/** Starts a process. */
export function start(
  app: TestApp,
  published: Pick<Published, 'appId' | 'buildId'>,
  name: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<TestResponse<StartBody>> {
  return app.request('POST', startPath(published, name), request(body, options, PLATFORM));
}

/** Executes a UI action. */
export function execute(
  app: TestApp,
  processUuid: string,
  tokenUuid: string,
  uiAction: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<TestResponse<UiActionBody>> {
  return app.request('POST', uiActionPath(processUuid, tokenUuid, uiAction), request(body, options));
}

/** Starts a process and returns the instance with its first token. Throws if the request fails. */
export async function started(
  app: TestApp,
  published: Pick<Published, 'appId' | 'buildId'>,
  name: string,
  body?: unknown,
): Promise<StartBody & { token: TokenBody }> {
  const { status, text, body: instance } = await start(app, published, name, body);
  const [token] = status === 200 ? instance.tokens : [];
  if (status !== 200) {
    throw new Error(`${status} ${text}`);
  }
  return { ...instance, token: token as TokenBody };
}

/** Executes a UI action. Throws if the request fails. */
export async function executed(
  app: TestApp,
  processUuid: string,
  tokenUuid: string,
  uiAction: string,
  body?: unknown,
): Promise<UiActionBody> {
  const response = await execute(app, processUuid, tokenUuid, uiAction, body);
  if (response.status !== 200) {
    throw new Error(`${response.status} ${response.text}`);
  }
  return response.body;
}

/** Polls until `isDone` accepts the result. */
export async function eventually<T>(poll: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await poll();
    if (isDone(answer)) {
      return answer;
    }
    if (Date.now() > end) {
      throw new Error(`Timed out. Last result: ${JSON.stringify(answer)?.slice(0, 2_000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function request(
  body: unknown,
  { token, headers, key, rawBody }: CallOptions,
  defaults: Record<string, string> = {},
): object {
  return {
    ...(body === undefined ? {} : { body }),
    ...(rawBody === undefined ? {} : { rawBody }),
    ...(token === undefined ? {} : { token }),
    headers: { ...defaults, ...(key === undefined ? {} : { 'idempotency-key': key }), ...headers },
  };
}
