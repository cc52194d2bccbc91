import { describe, expect, it } from 'vitest';
import { signedHeaders } from './s3-signature.js';

describe('the signature of S3', () => {
  // The signatures are those that botocore, the SDK of AWS for Python, makes of the same requests.
  it.each([
    ['https://s3.example.com:9000/', '5a417056626351875ef155199d5caff63f8b61a721aea62aa6c2cc2be9a341df'],
    [
      'https://storage.example.com/tenants/one%20two/',
      '24a5a2e41fdde461f99627bc7a47967e4117107e1f99e10b3fb7cd39bc214758',
    ],
  ])('is that of the SDK for %s', (url, signature) => {
    const headers = signedHeaders({
      url: new URL(url),
      accessKey: 'AKIDEXAMPLE',
      secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      region: 'eu-central-1',
      at: new Date('2026-03-01T12:00:00.000Z'),
    });
    expect(headers).toEqual({
      'x-amz-date': '20260301T120000Z',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260301/eu-central-1/s3/aws4_request, ' +
        `SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    });
  });
});
