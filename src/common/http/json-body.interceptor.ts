import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { Env } from '../../config/env.js';
import { UnreadableBodyError, ValidationFailedError } from '../errors/request.errors.js';
import { BodyLimit } from './body-limit.decorator.js';
import { NoBody } from './no-body.decorator.js';

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const FORBIDDEN_KEY = '__proto__';

/**
 * Reads the JSON body. An interceptor and not a middleware, because a body must not be looked at before the guards have
 * answered 401, 403 and the 404 of a path. A missing body is `{}`. A route may have a limit of its own, see `BodyLimit`, or take
 * no body at all, see `NoBody`.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  private readonly parsers = new Map<number, RequestHandler>();

  constructor(
    private readonly env: Env,
    private readonly reflector: Reflector,
  ) {}

  /** @throws UnreadableBodyError, ValidationFailedError */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (METHODS_WITH_BODY.has(request.method)) {
      const limit = this.env.get(
        this.reflector.get(BodyLimit, context.getHandler()) ?? 'HTTP_BODY_LIMIT_BYTES',
      );
      await this.read(request, http.getResponse<Response>(), limit);
      if (this.reflector.get(NoBody, context.getHandler())) {
        refuseFields(request.body as object);
      }
    }
    return next.handle();
  }

  private async read(request: Request, response: Response, limit: number): Promise<void> {
    if (hasBody(request) && !isJson(request)) {
      throw new UnreadableBodyError('Content-Type must be application/json.');
    }
    // The parser library takes every charset whose name begins with "utf-".
    if (!/^utf-8$/i.test(charsetOf(request))) {
      throw new UnreadableBodyError('Charset of the request must be utf-8.');
    }
    await new Promise<void>((resolve, reject) => {
      this.parserFor(limit)(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(explained(error, limit)),
      );
    });
    request.body = request.body === undefined ? {} : (request.body as unknown);
    if (typeof request.body !== 'object' || request.body === null || Array.isArray(request.body)) {
      throw new UnreadableBodyError('Request body must be a JSON object.');
    }
  }

  private parserFor(limit: number): RequestHandler {
    const parser =
      this.parsers.get(limit) ??
      express.json({ limit, strict: false, type: isJson, reviver: refuseForbiddenKey });
    this.parsers.set(limit, parser);
    return parser;
  }
}

function refuseFields(body: object): void {
  const problems = Object.keys(body).map((field) => ({ field, rule: 'is not a known field' }));
  if (problems.length > 0) {
    throw new ValidationFailedError(problems);
  }
}

function explained(error: unknown, limit: number): UnreadableBodyError {
  // Types of the body-parser library; its messages may quote the body.
  switch ((error as { type?: unknown }).type) {
    case 'entity.too.large':
      return new UnreadableBodyError('Request body is too large.', `the limit is ${limit} bytes`);
    case 'entity.parse.failed':
      return new UnreadableBodyError('Request body is not valid JSON.');
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

function refuseForbiddenKey(key: string, value: unknown): unknown {
  if (key === FORBIDDEN_KEY) {
    throw new SyntaxError('forbidden key');
  }
  return value;
}
