import { createHash, createHmac } from 'node:crypto';

/** A request without body and query that is to be signed. */
export interface S3Request {
  url: URL;
  accessKey: string;
  secretKey: string;
  region: string;
  at: Date;
}

const SCHEME = 'AWS4-HMAC-SHA256';
const SIGNED = 'host;x-amz-content-sha256;x-amz-date';

/** The headers that prove the keys of a GET request by AWS Signature Version 4. */
export function signedHeaders({ url, accessKey, secretKey, region, at }: S3Request): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const empty = sha256('');
  const canonical = [
    'GET',
    url.pathname,
    '',
    `host:${url.host}`,
    `x-amz-content-sha256:${empty}`,
    `x-amz-date:${time}`,
    '',
    SIGNED,
    empty,
  ].join('\n');
  const text = [SCHEME, time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretKey}`);
  const signature = hmac(key, text).toString('hex');
  return {
    'x-amz-date': time,
    'x-amz-content-sha256': empty,
    authorization: `${SCHEME} Credential=${accessKey}/${scope.join('/')}, SignedHeaders=${SIGNED}, Signature=${signature}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
