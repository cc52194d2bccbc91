import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { Bulkhead } from '../concurrency/bulkhead.js';
import type { Limit } from '../config/env.js';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { asInfinite, parseExactly, countValues } from '#engine/json';
import { requestContext } from '../observability/logging/request-context.js';
import { refuseFields, refuseUnknownQuery } from '../validation/unknown-fields.js';
import { RateLimitExceededError } from '../rate-limit/rate-limit.errors.js';
import { Metrics } from '../observability/metrics/metrics.js';
import { isPublic } from '../auth/access.decorators.js';
import { runAfterYield, cached } from '#engine/support';
import { callerKey, principalOf } from '../user/principal.js';
import { BodyAsBytes, BodyLimit } from './request.decorators.js';
import { routeInputs } from './route-inputs.js';
import { httpLimits } from '../http.limits.js';

interface Reading {
  limit: number;
  reads: 'json' | 'raw';
}

const SMALL_BYTES = 16_384;
/** More than bodies with fixed fields and most process data contain. */
const SMALL_VALUES = 2_048;
/** Minimum: one for the value, one for the comma or bracket before it. */
const BYTES_PER_VALUE = 2;

const BODY_RETRY_AFTER_SECONDS = 1;
const GONE = 'Request body could not be read.';

const NOTHING = Buffer.from('{}');
const UTF_8 = new TextDecoder();

/**
 * Reads JSON bodies, and rejects fields and query parameters that a route does not declare. `RequestGuard` calls it,
 * rather than a middleware, so that 401, 403 and the 404 of a path come first. A missing body is `{}`. A route may have
 * its own limit (`BodyLimit`) or take the bytes unparsed (`BodyAsBytes`). Public routes without a body ignore the body
 * and query of a request.
 */
export class JsonBodies {
  private readonly parsers = new Map<number, RequestHandler>();
  /** Admits a body before it is read, so that a waiting one uses no memory. */
  private readonly bytes: Bulkhead;
  /** Admits a body before it is parsed, because the number of its values is not known earlier. */
  private readonly values: Bulkhead;

  constructor(
    private readonly reflector: Reflector,
    { limits }: Metrics,
  ) {
    const bytes = { name: 'caller-body-bytes', max: httpLimits.callerBodyBytes };
    const values = { name: 'caller-body-values', max: httpLimits.callerBodyValues };
    this.bytes = bodyBulkhead(bytes);
    this.values = bodyBulkhead(values);
    limits.show(bytes, () => this.bytes.use);
    limits.show(values, () => this.values.use);
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
    // body-parser accepts every charset whose name begins with "utf-".
    if (!/^utf-8$/i.test(charsetOf(request))) {
      throw new UnreadableBodyError('Charset of the request must be utf-8.');
    }
    const size = sizeOf(request, limit);
    const leave = await admitted(request, this.bytes, size, SMALL_BYTES);
    await new Promise<void>((resolve, reject) => {
      this.parserFor(limit)(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(toBodyError(error, limit)),
      );
    });
    const body: unknown = request.body;
    const bytes = body instanceof Uint8Array && body.length > 0 ? body : NOTHING;
    if (reads === 'raw' || bytes.length <= SMALL_BYTES) {
      leave();
    }
    request.body = reads === 'raw' ? bytes : await this.parsedInTurn(request, bytes);
  }

  private async parsedInTurn(request: Request, bytes: Uint8Array): Promise<object> {
    const most = httpLimits.bodyValues;
    if (bytes.length > Math.min(most, SMALL_VALUES * BYTES_PER_VALUE)) {
      const values = await runAfterYield(() => countValues(bytes, most));
      if (values > most) {
        throw new UnreadableBodyError('Request body has too many values.', `the limit is ${most} values`);
      }
      await admitted(request, this.values, values, SMALL_VALUES);
    }
    return runAfterYield(() => objectOf(bytes));
  }

  private parserFor(limit: number): RequestHandler {
    return cached(this.parsers, limit, () => express.raw({ limit, type: isJson }));
  }
}

/**
 * Admits the large bodies of one caller a few at a time, in their order, by bytes or values. A large body occupies the
 * event loop for a moment; between the bodies of one caller, requests of others are processed.
 * @param limit limit per caller; 0 means no limit
 */
function bodyBulkhead(limit: Limit): Bulkhead {
  return new Bulkhead({ capacity: limit.max || Infinity, waitMs: httpLimits.callerBodyWaitMs }, (refusal) =>
    refusal === 'gone'
      ? new UnreadableBodyError(GONE)
      : new RateLimitExceededError(limit, BODY_RETRY_AFTER_SECONDS),
  );
}

/**
 * Waits until other bodies of the caller leave room for this one, which keeps its place until the request ends.
 * @param amount maximum number of bytes or values of the body
 * @param small a body up to this amount, or without a caller, needs no place
 * @returns function that frees the place earlier
 * @throws RateLimitExceededError when the wait is too long
 * @throws UnreadableBodyError when the connection is closed
 */
async function admitted(
  request: Request,
  bulkhead: Bulkhead,
  amount: number,
  small: number,
): Promise<() => void> {
  const principal = principalOf(request);
  const over = amount <= small ? undefined : requestContext()?.over;
  if (principal === undefined || over === undefined) {
    return () => undefined;
  }
  const place = bulkhead.enter({ key: callerKey(principal), weight: amount, signal: over });
  await place.admitted;
  over.addEventListener('abort', place.leave);
  if (over.aborted) {
    place.leave();
    throw new UnreadableBodyError(GONE);
  }
  return place.leave;
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

/** @returns maximum number of bytes of the body */
function sizeOf({ headers }: Request, limit: number): number {
  const isKnown = headers['transfer-encoding'] === undefined && headers['content-encoding'] === undefined;
  return isKnown ? Math.min(Number(headers['content-length'] ?? 0), limit) : limit;
}

function toBodyError(error: unknown, limit: number): UnreadableBodyError {
  // Types of the body-parser library; its messages may quote the body.
  switch ((error as { type?: unknown }).type) {
    case 'entity.too.large':
      return new UnreadableBodyError('Request body is too large.', `the limit is ${limit} bytes`);
    case 'encoding.unsupported':
      return new UnreadableBodyError('Content-Encoding of the request is not supported.');
    default:
      return new UnreadableBodyError(GONE);
  }
}

function isJson(request: { headers: Record<string, string | string[] | undefined> }): boolean {
  return /^application\/json\s*(;|$)/i.test(String(request.headers['content-type'] ?? ''));
}

/** Returns the declared charset; the default for JSON is UTF-8 (RFC 8259, section 8.1). */
function charsetOf(request: Request): string {
  return /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
}

function hasBody(request: Request): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  );
}

/**
 * Returns whether a body announced by chunks turns out to be empty, as some proxies send it with every request. A
 * request with a Content-Type has a body.
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
