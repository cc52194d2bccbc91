import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { asInfinite, parseExactly, countValues } from '#engine/json';
import { requestContext } from '../observability/logging/request-context.js';
import { refuseFields, refuseUnknownQuery } from '../validation/unknown-fields.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { isPublic } from '../auth/access.decorators.js';
import { inTurn, cached } from '#engine/support';
import { callerKey, principalOf } from '../user/principal.js';
import { BodyAsBytes, BodyLimit } from './request.decorators.js';
import { BodyTurns } from './body-turns.js';
import { routeInputs } from './route-inputs.js';
import { httpLimits } from './http.limits.js';

interface Reading {
  limit: number;
  reads: 'json' | 'raw';
}

const SMALL_BYTES = 16_384;
/** More than bodies with fixed fields have, and most data of processes. */
const SMALL_VALUES = 2_048;
/** At least: a value has one, and a comma or bracket before it another. */
const BYTES_PER_VALUE = 2;

const NOTHING = Buffer.from('{}');
const UTF_8 = new TextDecoder();

/**
 * Reads JSON bodies, and refuses fields and query parameters that a route does not declare. `RequestGuard` does so and no
 * middleware: 401, 403 and the 404 of a path are answered first. A missing body is `{}`. A route may have a limit of its
 * own, see `BodyLimit`, or take the bytes unread, see `BodyAsBytes`. Public routes without a body of their own read nothing of a
 * request, and nothing is read for them.
 */
export class JsonBodies {
  private readonly parsers = new Map<number, RequestHandler>();
  /** Before a body is read, so that what waits takes no memory. */
  private readonly byteTurns: BodyTurns;
  /** Before it is parsed: how many values it has is known only then. */
  private readonly valueTurns: BodyTurns;

  constructor(
    private readonly reflector: Reflector,
    { limits }: Metrics,
  ) {
    const waitMs = httpLimits.callerBodyWaitMs;
    const [bytes, values] = [
      { name: 'caller-body-bytes', most: httpLimits.callerBodyBytes },
      { name: 'caller-body-values', most: httpLimits.callerBodyValues },
    ];
    this.byteTurns = new BodyTurns({ limit: bytes, small: SMALL_BYTES, waitMs });
    this.valueTurns = new BodyTurns({ limit: values, small: SMALL_VALUES, waitMs });
    limits.show(bytes, () => this.byteTurns.use);
    limits.show(values, () => this.valueTurns.use);
  }

  /** @throws UnreadableBodyError, ValidationFailedError, RateLimitExceededError */
  async read(context: ExecutionContext): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { takesBody, query, repeated } = routeInputs(context);
    if (takesBody || !isPublic(this.reflector, context)) {
      refuseUnknownQuery(request.query, query, repeated);
      if (takesBody || (hasBody(request) && !(await isEmptyBody(request)))) {
        await this.parse(request, http.getResponse<Response>(), this.readingOf(context));
      }
      if (!takesBody) {
        refuseFields((request.body ?? {}) as object);
      }
    }
  }

  private readingOf(context: ExecutionContext): Reading {
    const limit = this.reflector.get(BodyLimit, context.getHandler())?.() ?? httpLimits.bodyBytes;
    const asBytes: unknown = this.reflector.get(BodyAsBytes, context.getHandler());
    return { limit, reads: asBytes === true ? 'raw' : 'json' };
  }

  private async parse(request: Request, response: Response, { limit, reads }: Reading): Promise<void> {
    if (hasBody(request) && !isJson(request)) {
      throw new UnreadableBodyError('Content-Type must be application/json.');
    }
    // The parser library takes every charset whose name begins with "utf-".
    if (!/^utf-8$/i.test(charsetOf(request))) {
      throw new UnreadableBodyError('Charset of the request must be utf-8.');
    }
    const endTurn = await turnOf(request, this.byteTurns, sizeOf(request, limit));
    await new Promise<void>((resolve, reject) => {
      this.parserFor(limit)(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(explained(error, limit)),
      );
    });
    const body: unknown = request.body;
    const bytes = body instanceof Uint8Array && body.length > 0 ? body : NOTHING;
    if (reads === 'raw' || this.byteTurns.isSmall(bytes.length)) {
      endTurn();
    }
    request.body = reads === 'raw' ? bytes : await this.parsedInTurn(request, bytes);
  }

  private async parsedInTurn(request: Request, bytes: Uint8Array): Promise<object> {
    const most = httpLimits.bodyValues;
    if (bytes.length > Math.min(most, SMALL_VALUES * BYTES_PER_VALUE)) {
      const values = await inTurn(() => countValues(bytes, most));
      if (values > most) {
        throw new UnreadableBodyError('Request body has too many values.', `the limit is ${most} values`);
      }
      await turnOf(request, this.valueTurns, values);
    }
    return inTurn(() => objectOf(bytes));
  }

  private parserFor(limit: number): RequestHandler {
    return cached(this.parsers, limit, () => express.raw({ limit, type: isJson }));
  }
}

/**
 * Waits until bodies of this caller leave room for so much.
 * @returns ends the turn before the answer
 */
async function turnOf(request: Request, turns: BodyTurns, amount: number): Promise<() => void> {
  const principal = principalOf(request);
  const context = turns.isSmall(amount) ? undefined : requestContext();
  return principal && context
    ? turns.take(callerKey(principal), amount, context.over)
    : (): void => undefined;
}

function objectOf(bytes: Uint8Array): object {
  const body = parsed(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new UnreadableBodyError('Request body must be a JSON object.');
  }
  return body;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseExactly(UTF_8.decode(bytes), asInfinite);
  } catch {
    throw new UnreadableBodyError('Request body is not valid JSON.');
  }
}

/** @returns bytes of the body at the most */
function sizeOf({ headers }: Request, limit: number): number {
  const isKnown = headers['transfer-encoding'] === undefined && headers['content-encoding'] === undefined;
  return isKnown ? Math.min(Number(headers['content-length'] ?? 0), limit) : limit;
}

function explained(error: unknown, limit: number): UnreadableBodyError {
  // Types of the body-parser library; its messages may quote the body.
  switch ((error as { type?: unknown }).type) {
    case 'entity.too.large':
      return new UnreadableBodyError('Request body is too large.', `the limit is ${limit} bytes`);
    case 'encoding.unsupported':
      return new UnreadableBodyError('Content-Encoding of the request is not supported.');
    default:
      return new UnreadableBodyError('Request body could not be read.');
  }
}

function isJson(request: { headers: Record<string, string | string[] | undefined> }): boolean {
  return /^application\/json\s*(;|$)/i.test(String(request.headers['content-type'] ?? ''));
}

/** The declared charset; JSON is UTF-8 where none is (RFC 8259, section 8.1). */
function charsetOf(request: Request): string {
  return /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
}

function hasBody(request: Request): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  );
}

/**
 * Whether a body was announced by chunks, as some proxies do for every request, and none came. One that says what it is, is
 * none of these.
 */
function isEmptyBody(request: Request): Promise<boolean> {
  if (request.headers['content-type'] !== undefined || request.headers['transfer-encoding'] === undefined) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    if (request.destroyed) {
      resolve(false);
    }
    request
      .once('data', () => resolve(false))
      .once('end', () => resolve(true))
      .once('close', () => resolve(false));
  });
}
