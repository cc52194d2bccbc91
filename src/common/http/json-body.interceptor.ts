import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { Env } from '../../config/env.js';
import { UnreadableBodyError } from '../errors/request.errors.js';

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const FORBIDDEN_KEY = '__proto__';

/**
 * Reads the JSON body. An interceptor and not a middleware, because a body must not be looked at before the guards have
 * answered 401, 403 and the 404 of a path. A missing body is `{}`.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  private readonly parse: RequestHandler;
  private readonly limit: number;

  constructor(env: Env) {
    this.limit = env.get('HTTP_BODY_LIMIT_BYTES');
    this.parse = express.json({
      limit: this.limit,
      strict: false,
      type: isJson,
      reviver: refuseForbiddenKey,
    });
  }

  /** @throws UnreadableBodyError */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (METHODS_WITH_BODY.has(request.method)) {
      await this.read(request, http.getResponse<Response>());
    }
    return next.handle();
  }

  private async read(request: Request, response: Response): Promise<void> {
    if (hasBody(request) && !isJson(request)) {
      throw new UnreadableBodyError('Content-Type must be application/json.');
    }
    // The parser library takes every charset whose name begins with "utf-".
    if (!/^utf-8$/i.test(charsetOf(request))) {
      throw new UnreadableBodyError('Charset of the request must be utf-8.');
    }
    await new Promise<void>((resolve, reject) => {
      this.parse(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(this.explain(error)),
      );
    });
    request.body = request.body === undefined ? {} : (request.body as unknown);
    if (typeof request.body !== 'object' || request.body === null || Array.isArray(request.body)) {
      throw new UnreadableBodyError('Request body must be a JSON object.');
    }
  }

  private explain(error: unknown): UnreadableBodyError {
    // Types of the body-parser library; its messages may quote the body.
    switch ((error as { type?: unknown }).type) {
      case 'entity.too.large':
        return new UnreadableBodyError('Request body is too large.', `the limit is ${this.limit} bytes`);
      case 'entity.parse.failed':
        return new UnreadableBodyError('Request body is not valid JSON.');
      case 'encoding.unsupported':
        return new UnreadableBodyError('Content-Encoding of the request is not supported.');
      default:
        return new UnreadableBodyError('Request body could not be read.');
    }
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
