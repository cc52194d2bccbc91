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

/**
 * A JSON value that is text already: what a handler returns that puts its answer together from stored text. A text of megabytes comes
 * as the bytes that are sent, in UTF-8.
 */
export class JsonText {
  constructor(readonly text: string | Buffer) {}
}

/**
 * The adapter of the framework, which sends an answer in JSON as one text, header and body together. That of Express copies the
 * body into a buffer first, and hands both to the socket one by one. Whatever is no usual answer in JSON goes the way of Express.
 */
export class JsonReplies extends ExpressAdapter {
  constructor() {
    // Paths are written in one way. The router reads these settings when it is made, which the adapter does at once.
    super(express().set('case sensitive routing', true).set('strict routing', true));
  }

  /** Answers 304 without a body where the handler says so, or the answer has an `ETag` that `If-None-Match` names. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (statusCode !== undefined) {
      response.status(statusCode);
    }
    if (isNotModified(response)) {
      return response.status(NOT_MODIFIED).end();
    }
    if (!isUsual(response, body)) {
      return super.reply(response, body instanceof JsonText ? JSON.parse(body.text.toString()) : body);
    }
    const text = body instanceof JsonText ? body.text : JSON.stringify(body);
    response.setHeader('Content-Type', JSON_TYPE);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.req.method === 'HEAD' ? response.end() : response.end(text);
  }
}

function isNotModified(response: Response): boolean {
  // A handler that knows before it makes the answer says so.
  if (response.statusCode === NOT_MODIFIED) {
    return true;
  }
  const etag = response.getHeader('ETag');
  const { method } = response.req;
  const isRead = method === 'GET' || method === 'HEAD';
  return typeof etag === 'string' && isRead && namesTag(response.req, etag);
}

function isUsual(response: Response, body: unknown): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    !(body instanceof StreamableFile) &&
    !(body instanceof Error) &&
    !WITHOUT_BODY.has(response.statusCode) &&
    !response.hasHeader('Content-Type')
  );
}
