import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** High and slow, because each file is compressed only once. */
const BROTLI_QUALITY = 9;

interface CachedContent {
  readonly etag: string;
  readonly bytes: Buffer;
  readonly br: Promise<Buffer>;
  readonly gzip: Promise<Buffer>;
}

/**
 * A public file that does not change while the process runs. It is created and compressed on the first request and then
 * cached, so that further requests are cheap.
 */
export class CachedFile {
  private content: CachedContent | undefined;

  /** @param make returns the content; called at most once */
  constructor(
    private readonly type: string,
    private readonly make: () => string | Buffer,
    private readonly caching = 'no-cache',
  ) {}

  /**
   * Answers GET and HEAD in an encoding that the caller accepts; 304 if `If-None-Match` names the file (RFC 9110,
   * section 13.1.2). The tag is weak, since it is the same for every encoding.
   */
  async send(request: Request, response: Response): Promise<void> {
    const content = (this.content ??= compress(this.make()));
    response.setHeader('Content-Type', this.type);
    // `no-transform` keeps proxies and our own compression from changing it.
    response.setHeader('Cache-Control', `${this.caching}, no-transform`);
    response.setHeader('ETag', content.etag);
    const encoding = encodingFor(request);
    if (encoding !== undefined) {
      response.setHeader('Content-Encoding', encoding);
    }
    response.send(encoding === undefined ? content.bytes : await content[encoding]);
  }
}

function compress(content: string | Buffer): CachedContent {
  const bytes = Buffer.from(content);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return {
    etag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
    bytes,
    br: promisify(brotliCompress)(bytes, { params }),
    gzip: promisify(gzip)(bytes),
  };
}

function encodingFor(request: Request): 'br' | 'gzip' | undefined {
  const accepted = request.acceptsEncodings();
  return (['br', 'gzip'] as const).find((encoding) => accepted.includes(encoding));
}
