import { Injectable } from '@nestjs/common';
import { AwsV4Signer } from 'aws4fetch';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { failureOfStatus, ProbeError, type ProbeFailure } from '../../model/failures.js';
import type { Probe, ProbeContext, ProbeFinding } from '../../model/probe.js';

const CODES: Readonly<Record<string, ProbeFailure>> = {
  AccessDenied: 'forbidden',
  AllAccessDisabled: 'forbidden',
  InvalidAccessKeyId: 'auth',
  SignatureDoesNotMatch: 'auth',
  ExpiredToken: 'auth',
  InvalidToken: 'auth',
  RequestTimeTooSkewed: 'auth',
  SlowDown: 'down',
  ServiceUnavailable: 'down',
};

/** The root element of an answer to ListBuckets. */
const LISTING = /^\s*(?:<\?xml[^>]*>\s*)?<ListAllMyBucketsResult[\s>]/;

/** Looks at storage with the S3 interface: how many buckets there are. Needs an account with s3:ListAllMyBuckets. */
@Injectable()
export class S3Probe implements Probe {
  readonly kind = 's3';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly clock: Clock,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const { username: accessKeyId, password: secretAccessKey } = component.credentials ?? {};
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      throw new ProbeError('configuration');
    }
    const region = component.options.region ?? 'us-east-1';
    // The keys sign the request; they are never sent themselves.
    const http = this.client.open({ ...component, credentials: null }, context);
    const url = http.below('/');
    const datetime = this.clock
      .now()
      .toISOString()
      .replaceAll(/[-:]|\.\d{3}/g, '');
    const keys = { accessKeyId, secretAccessKey, region, service: 's3' };
    const { headers } = await new AwsV4Signer({ ...keys, url: url.href, datetime }).sign();
    headers.delete('host');
    const answer = await http.get(url, Object.fromEntries(headers));
    const failure = CODES[/<Code>(\w{1,64})<\/Code>/.exec(answer.body)?.[1] ?? ''];
    if (failureOfStatus(answer.status) !== undefined && failure !== undefined) {
      throw new ProbeError(failure);
    }
    return { buckets: bucketsIn(answer.expectOk().body), warnings: http.warnings() };
  }
}

/** @throws ProbeError `protocol` when the text is not an answer to ListBuckets */
function bucketsIn(xml: string): number {
  if (!LISTING.test(xml)) {
    throw new ProbeError('protocol');
  }
  return xml.match(/<Bucket[\s>]/g)?.length ?? 0;
}
