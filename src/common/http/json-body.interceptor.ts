import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { Env } from '../../config/env.js';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { refuseFields, refuseUnknownQuery } from '../validation/request-shape.js';
import { IS_PUBLIC } from '../auth/public.decorator.js';
import { BodyLimit } from './body-limit.decorator.js';
import { routeInputs } from './route-inputs.js';

/**
 * Reads the JSON body, and refuses fields and query parameters that a route does not declare. An interceptor and not a
 * middleware, because neither must be looked at before the guards have answered 401, 403 and the 404 of a path. A missing
 * body is `{}`. A route may have a limit of its own, see `BodyLimit`. Public routes read nothing of a request, and nothing is
 * read for them.
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
    const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (isPublic !== true) {
      const { takesBody, query } = routeInputs(context);
      refuseUnknownQuery(request.query, query);
      if (takesBody || (hasBody(request) && !(await isEmptyBody(request)))) {
        const limit = this.env.get(
          this.reflector.get(BodyLimit, context.getHandler()) ?? 'HTTP_BODY_LIMIT_BYTES',
        );
        await this.read(request, http.getResponse<Response>(), limit);
      }
      if (!takesBody) {
        refuseFields((request.body ?? {}) as object);
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
    const parser = this.parsers.get(limit) ?? express.json({ limit, strict: false, type: isJson });
    this.parsers.set(limit, parser);
    return parser;
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
