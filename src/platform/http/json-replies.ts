import { createServer } from 'node:http';
import { HttpStatus, StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Response } from 'express';
import { namesTag } from './conditional-requests.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const NOT_MODIFIED: number = HttpStatus.NOT_MODIFIED;
const WITHOUT_BODY: ReadonlySet<number> = new Set([
  HttpStatus.NO_CONTENT,
  HttpStatus.RESET_CONTENT,
  NOT_MODIFIED,
]);

/** Interval of Node's checks for timeouts, which by default run only every 30 seconds. */
const TIMEOUT_CHECK_MS = 1_000;

/**
 * A JSON value as text, returned by handlers that compose their response of stored text. Texts of megabytes are passed
 * as UTF-8 bytes.
 */
export class JsonText {
  constructor(readonly text: string | Buffer) {}
}

/**
 * HTTP adapter that sends a JSON response in one piece, headers and body together. The one of Express copies the body
 * into a buffer first, and writes both separately. All other responses are left to Express.
 */
export class JsonReplies extends ExpressAdapter {
  constructor() {
    // Paths match only in their exact form. The router reads these settings when it is created, which the adapter does
    // at once.
    super(express().set('case sensitive routing', true).set('strict routing', true));
  }

  /** Creates the server with options that the framework cannot pass. */
  override initHttpServer(): void {
    // `requireHost` checks the Host header, because Node responds to a missing one with 400 and an empty body.
    const options = { requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_MS };
    this.httpServer = createServer(options, this.getInstance());
  }

  /**
   * Responds with 304 and no body if the handler has set this status, or if `If-None-Match` names the `ETag` of the
   * response.
   */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (statusCode !== undefined) {
      response.status(statusCode);
    }
    if (isNotModified(response)) {
      return response.status(NOT_MODIFIED).end();
    }
    if (!isPlainJson(response, body)) {
      return super.reply(response, body instanceof JsonText ? JSON.parse(body.text.toString()) : body);
    }
    const text = body instanceof JsonText ? body.text : JSON.stringify(body);
    response.setHeader('Content-Type', JSON_TYPE);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.req.method === 'HEAD' ? response.end() : response.end(text);
  }
}

function isNotModified(response: Response): boolean {
  // A handler may know it before it creates the response.
  if (response.statusCode === NOT_MODIFIED) {
    return true;
  }
  const etag = response.getHeader('ETag');
  const { method } = response.req;
  const isRead = method === 'GET' || method === 'HEAD';
  return typeof etag === 'string' && isRead && namesTag(response.req, etag);
}

function isPlainJson(response: Response, body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    !(body instanceof StreamableFile) &&
    !(body instanceof Error) &&
    !WITHOUT_BODY.has(response.statusCode) &&
    !response.hasHeader('Content-Type')
  );
}
