import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Best and slow: each file is compressed once. */
const BROTLI_QUALITY = 9;

interface Kept {
  readonly etag: string;
  readonly bytes: Buffer;
  readonly br: Promise<Buffer>;
  readonly gzip: Promise<Buffer>;
}

/**
 * A file for anybody to read that stays the same as long as the process runs. It is made and compressed when it is first
 * asked for and never again, so that requests for it cost next to nothing.
 */
export class KeptFile {
  private kept: Kept | undefined;

  /** @param make the content; called at most once */
  constructor(
    private readonly type: string,
    private readonly make: () => string | Buffer,
    private readonly caching = 'no-cache',
  ) {}

  /**
   * Answers GET and HEAD in the coding that the caller takes; 304 where `If-None-Match` names the file (RFC 9110,
   * section 13.1.2). The tag is weak, since it is the same in every coding.
   */
  async send(request: Request, response: Response): Promise<void> {
    const kept = (this.kept ??= keep(this.make()));
    response.setHeader('Content-Type', this.type);
    // Nothing on the way, our own compression included, changes it.
    response.setHeader('Cache-Control', `${this.caching}, no-transform`);
    response.setHeader('ETag', kept.etag);
    const coding = codingFor(request);
    if (coding !== undefined) {
      response.setHeader('Content-Encoding', coding);
    }
    response.send(coding === undefined ? kept.bytes : await kept[coding]);
  }
}

function keep(content: string | Buffer): Kept {
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

function codingFor(request: Request): 'br' | 'gzip' | undefined {
  const accepted = request.acceptsEncodings();
  return (['br', 'gzip'] as const).find((coding) => accepted.includes(coding));
}
