import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { TestApp } from '../../support/app.js';
import { versionPath } from '../../support/factories.js';
import { flows, node, processFile, taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { instancePath, start, started } from '../../support/runtime/runtime-client.js';
import { stopWork } from '../../support/runtime/runtime-rows.js';

interface AuditEvent {
  action: string;
  outcome: string;
  subject: string;
  requestId: string;
  details: Record<string, unknown>;
}

const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="plain"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);
/** Requires a numeric `amount` at its gateway. */
const choosing = processFile(
  'choosing',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);

describe('operations on process instances in the audit log', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
    published = await publish(app, { bpmn: [taskProcess('plain', userTask('a')), calling, choosing] });
  });
  afterAll(() => app.close());

  const post = (
    id: string,
    operation: string,
    options: { token?: string; headers?: Record<string, string> } = {},
  ) => app.request('POST', `${instancePath(id)}/${operation}`, options);

  /** Returns the events of an instance from the audit log of its version, oldest first. */
  const eventsOf = async (id: string): Promise<AuditEvent[]> => {
    const path = `${versionPath(published.appId, published.versionId)}/integration/api/systems/audit?limit=100`;
    const { body } = await app.request<{ events: AuditEvent[] }>('GET', path);
    return body.events.filter(({ details }) => details['processInstanceUuid'] === id).toReversed();
  };

  it('record who did what, in which request, with the states before and after', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const token = await app.tokenWith({ sub: 'olga', scope: 'process:administer' });
    await post(id, 'hold', { token, headers: { 'x-request-id': 'held-by-olga-1' } });
    await post(id, 'release', { token, headers: { 'x-request-id': 'held-by-olga-1' } });
    await post(id, 'terminate', { token });

    const events = await eventsOf(id);
    expect(events).toMatchObject([
      { subject: 'olga', callerRequestId: 'held-by-olga-1' },
      { callerRequestId: 'held-by-olga-1' },
      { callerRequestId: null },
    ]);
    // Callers choose their own request ids, so only the id of the service is unique.
    expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(3);
    expect(events.map(({ action, outcome, details }) => ({ action, outcome, details }))).toEqual(
      [
        ['process.hold', 'STARTED', 'ONHOLD'],
        ['process.release', 'ONHOLD', 'STARTED'],
        ['process.terminate', 'STARTED', 'TERMINATED'],
      ].map(([action, stateBefore, state]) => ({
        action,
        outcome: 'ok',
        details: { processInstanceUuid: id, stateBefore, state },
      })),
    );
  });

  it('are recorded as errors when the state of the instance forbids them', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    for (const operation of ['release', 'retry', `token/${token.uuid}/retry`]) {
      expect((await post(id, operation)).status).toBe(409);
    }

    expect(
      (await eventsOf(id)).map(({ action, outcome, details }) => ({ action, outcome, details })),
    ).toEqual([
      {
        action: 'process.release',
        outcome: 'error',
        details: { processInstanceUuid: id, code: 'INSTANCE_NOT_ON_HOLD' },
      },
      {
        action: 'process.retry',
        outcome: 'error',
        details: { processInstanceUuid: id, code: 'NOTHING_TO_RETRY' },
      },
      {
        action: 'process.retry',
        outcome: 'error',
        details: { processInstanceUuid: id, tokenUuid: token.uuid, code: 'NOTHING_TO_RETRY' },
      },
    ]);
  });

  it('are recorded when the permission is missing, but not for unknown instances', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const unknown = uuid();
    const token = await app.tokenWith({ sub: 'intruder', scope: 'openid' });
    const denied = await Promise.all([
      post(unknown, 'terminate', { token }),
      post(id, 'terminate', { token }),
    ]);
    expect(new Set(denied.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(denied[0]?.status).toBe(403);
    expect((await post(unknown, 'terminate')).status).toBe(404);

    await expect
      .poll(() => eventsOf(id))
      .toMatchObject([
        {
          action: 'process.terminate',
          outcome: 'denied',
          subject: 'intruder',
          details: { processInstanceUuid: id, permission: 'process-administration' },
        },
      ]);
    const all = await app.dataSource.getRepository(AuditEventEntity).find();
    expect(JSON.stringify(all)).not.toContain(unknown);
    expect(all.filter(({ appId }) => appId === '')).toEqual([]);
  });

  it('are recorded without path parameters that were not validated', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const token = await app.tokenWith({ sub: 'intruder-2', scope: 'openid' });
    expect((await post(id, `token/${'x'.repeat(1_000)}/retry`, { token })).status).toBe(403);

    await expect
      .poll(() => eventsOf(id))
      .toMatchObject([
        {
          action: 'process.retry',
          details: { processInstanceUuid: id, permission: 'process-administration' },
        },
      ]);
    const [event] = await eventsOf(id);
    expect(event?.details).not.toHaveProperty('tokenUuid');
  });

  it('record the retry of a token once', async () => {
    const { uuid: id, token, instanceMetadata } = await started(app, published, 'calling', {});
    const incident = await stopWork(app, instanceMetadata.processInstanceId);
    const path = `token/${token.uuid}/retry`;
    const answers = await Promise.all([post(id, path), post(id, path)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);

    const events = await eventsOf(id);
    expect(events.map(({ outcome }) => outcome).toSorted()).toEqual(['error', 'ok']);
    expect(events.find(({ outcome }) => outcome === 'ok')).toMatchObject({
      action: 'process.retry',
      details: {
        processInstanceUuid: id,
        tokenUuid: token.uuid,
        stateBefore: 'STARTED',
        state: 'STARTED',
        retriedIncidents: [incident.uuid],
      },
    });
  });

  it('record a retry that stopped again immediately', async () => {
    const { body } = await start(app, published, 'choosing', { amount: 'many' });
    const id = body.incident?.processInstanceUuid ?? '';
    expect((await post(id, 'retry')).status).toBe(409);

    expect(await eventsOf(id)).toMatchObject([
      { action: 'process.retry', outcome: 'error', details: { code: 'PROCESS_INCIDENT' } },
    ]);
  });
});
