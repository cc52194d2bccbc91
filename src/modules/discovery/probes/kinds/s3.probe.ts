import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { textOption } from '../net/component-options.js';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import { signedHeaders } from '../http/s3-signature.js';
import type { HttpAnswer } from '../http/http-answer.js';
import { ProbeError, type ProbeFailure } from '../../model/probe.error.js';
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

/** Looks at storage with the S3 interface: how many buckets there are. Needs an account with s3:ListAllMyBuckets. */
@Injectable()
export class S3Probe implements Probe {
  readonly kind = 's3';

  constructor(
    private readonly client: ProbeHttpClient,
    private readonly clock: Clock,
  ) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const { username: accessKey, password: secretKey } = component.credentials ?? {};
    if (accessKey === undefined || secretKey === undefined) {
      throw new ProbeError('configuration');
    }
    const region = textOption(component, 'region') ?? 'us-east-1';
    // The keys sign the request; they are never sent themselves.
    const http = this.client.open({ ...component, credentials: null }, context);
    const url = http.below('/');
    const at = this.clock.now();
    const answer = await http.get(url, signedHeaders({ url, accessKey, secretKey, region, at }));
    if (!answer.isOk) {
      throw failureOf(answer);
    }
    if (!answer.body.includes('ListAllMyBucketsResult')) {
      throw new ProbeError('protocol');
    }
    const buckets = answer.body.match(/<Bucket>/g)?.length ?? 0;
    return { buckets, warnings: http.warnings() };
  }
}

function failureOf(answer: HttpAnswer): ProbeError {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(answer.body)?.[1] ?? '';
  const failure = CODES[code];
  if (failure !== undefined) {
    return new ProbeError(failure);
  }
  try {
    answer.expectOk();
  } catch (error) {
    return error as ProbeError;
  }
  return new ProbeError('http_error');
}
