import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/databases/process-resources.js';
import { component, failureOf, runProbe } from '../../support/discovery/run-probe.js';
import { tlsCertificate } from '../../support/peers/certificates.js';

const KEYWORDS = ['8BITMIME', 'PIPELINING', 'SIZE', 'SMTPUTF8'];
const [nearlyOver, fresh] = [tlsCertificate(2), tlsCertificate(90)];

describe('the probe of smtp', () => {
  let stop = (): Promise<void> => Promise.resolve();
  afterEach(() => stop());

  async function start(options: SMTPServerOptions, port?: number): Promise<number> {
    const server = new SMTPServer({ size: 1_000_000, closeTimeout: 1_000, ...options });
    server.on('error', () => undefined);
    const listening = port ?? (await freePort());
    await new Promise<void>((resolve) => server.listen(listening, '127.0.0.1', () => resolve()));
    stop = () => {
      stop = () => Promise.resolve();
      return new Promise((resolve) => server.close(() => resolve()));
    };
    return listening;
  }

  it('finds keywords and certificate behind STARTTLS, then nothing, then the same again', async () => {
    const options = await fresh;
    const port = await start(options);
    const target = component('smtp', `smtp://127.0.0.1:${port}`);
    const found = { capabilities: [...KEYWORDS, 'AUTH', 'STARTTLS'].toSorted(), warnings: [] };
    expect(await runProbe(target)).toEqual(found);
    await stop();
    expect(await failureOf(target)).toBe('refused');
    await start(options, port);
    expect(await runProbe(target)).toEqual(found);
  });

  it('warns when the certificate behind STARTTLS expires within a month', async () => {
    const port = await start(await nearlyOver);
    const { warnings } = await runProbe(component('smtp', `smtp://127.0.0.1:${port}`));
    expect(warnings).toEqual([{ code: 'certificate_expires', days: 1 }]);
  });

  it('works without STARTTLS and authentication', async () => {
    const port = await start({ hideSTARTTLS: true, disabledCommands: ['AUTH', 'STARTTLS'] });
    expect(await runProbe(component('smtp', `127.0.0.1:${port}`))).toEqual({
      capabilities: KEYWORDS,
      warnings: [],
    });
  });

  it('uses TLS from the start for smtps, and requires a trusted certificate', async () => {
    const certificate = await nearlyOver;
    const port = await start({ ...certificate, secure: true });
    const endpoint = `smtps://127.0.0.1:${port}`;
    const target = component('smtp', endpoint, { options: { ca: certificate.cert } });
    expect(await runProbe(target)).toEqual({
      capabilities: [...KEYWORDS, 'AUTH'].toSorted(),
      warnings: [{ code: 'certificate_expires', days: 1 }],
    });
    expect(await failureOf(component('smtp', endpoint))).toBe('tls');
  });

  it('reports a server that rejects every connection as down', async () => {
    const port = await start({
      hideSTARTTLS: true,
      onConnect: (_session, callback) => callback(new Error('Service not available')),
    });
    expect(await failureOf(component('smtp', `smtp://127.0.0.1:${port}`))).toBe('down');
  });
});
