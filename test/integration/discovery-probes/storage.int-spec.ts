import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/databases/process-resources.js';
import { component, failureOf, runProbe } from '../../support/discovery/run-probe.js';
import { startHttpPeer } from '../../support/peers/peer.js';

const KEYS = { username: 'S3RVER', password: 'S3RVER' };

describe('the probe of s3', () => {
  let folder: string;
  let port: number;
  let server: S3rver;

  async function start(...buckets: string[]): Promise<void> {
    server = new S3rver({
      port,
      address: '127.0.0.1',
      silent: true,
      directory: folder,
      configureBuckets: buckets.map((name) => ({ name })),
    });
    await server.run();
  }

  const as = (credentials: { username: string; password: string } | null, options = {}) =>
    component('s3', `http://127.0.0.1:${port}`, { credentials, options });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-s3-'));
    port = await freePort();
    await start('invoices', 'orders');
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('counts the buckets in any region', async () => {
    expect(await runProbe(as(KEYS))).toEqual({ buckets: 2, warnings: [] });
    const elsewhere = as(KEYS, { region: 'eu-central-1' });
    expect(await runProbe(elsewhere)).toEqual({ buckets: 2, warnings: [] });
  });

  it('distinguishes wrong keys from missing ones', async () => {
    expect(await failureOf(as({ ...KEYS, username: 'nobody' }))).toBe('auth');
    expect(await failureOf(as(null))).toBe('configuration');
  });

  it.each([
    [403, 'SignatureDoesNotMatch', 'auth'],
    [403, 'RequestTimeTooSkewed', 'auth'],
    [403, 'AccessDenied', 'forbidden'],
    [503, 'SlowDown', 'down'],
    [500, 'InternalError', 'http_error'],
  ])('interprets the error %i %s', async (status, code, failure) => {
    const peer = await startHttpPeer((_request, response) => {
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
    });
    expect(await failureOf(component('s3', peer.url, { credentials: KEYS }))).toBe(failure);
    await peer.close();
  });

  it('does not mistake another document for a listing', async () => {
    const peer = await startHttpPeer((_request, response) => {
      response.end('<html>ListAllMyBucketsResult <Bucket></html>');
    });
    expect(await failureOf(component('s3', peer.url, { credentials: KEYS }))).toBe('protocol');
    await peer.close();
  });

  it('reports that it is gone, and then back with one more bucket', async () => {
    await server.close();
    expect(await failureOf(as(KEYS))).toBe('refused');
    await start('archive');
    expect(await runProbe(as(KEYS))).toEqual({ buckets: 3, warnings: [] });
  });
});
