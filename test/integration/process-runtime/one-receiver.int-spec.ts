import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProcessMessageWaitEntity } from '../../../src/runtime/storage/process-message.entity.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  executed,
  instancePath,
  start,
  started,
} from '../../support/runtime/runtime-client.js';
import { instanceRow, stateOf, tokenRows } from '../../support/runtime/runtime-rows.js';

const receiver = (name: string, before: string, way: string, correlation: string): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${before}
     ${node('intermediateCatchEvent', 'catch', `<bpmn:messageEventDefinition messageRef="M" svc:correlation="${correlation}"/>`)}
     ${userTask('a')}${node('endEvent', 'end')}${flows(`${way} catch>a a>end`)}`,
    { outside: '<bpmn:message id="M" name="paid"/>' },
  );
const atOnce = receiver('at-once', '', 'start>catch', 'order');
const afterTask = receiver('after-task', userTask('go'), 'start>go go>catch', 'order');
const anyone = receiver('anyone', '', 'start>catch', '');
const sender = processFile(
  'sender',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'send', kind: 'sendMessage', message: 'paid', correlation: 'order' },
  ])}${node('endEvent', 'end')}${flows('start>s s>end')}`,
);
const REFUSAL =
  'Another token already waits for the message "paid" with the same correlation (PROCESS_MESSAGE_ONE_RECEIVER).';

describe('PROCESS_MESSAGE_ONE_RECEIVER', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.start({ PROCESS_MESSAGE_ONE_RECEIVER: 'true', 'jobLimits.pollMs': '20' });
    published = await publish(app, { bpmn: [atOnce, afterTask, anyone, sender] });
  });
  afterAll(() => app.close());

  it('lets one of several concurrent starts wait, and another one once the message has arrived', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => start(app, published, 'at-once', { order: 'A' })),
    );
    const [first, ...more] = answers.filter(({ status }) => status === 200);
    const [second, ...others] = answers.filter(({ status }) => status === 409);
    expect([more.length, others.length]).toEqual([0, 4]);
    const uuid = second?.body.incident?.processInstanceUuid ?? '';
    expect(await stateOf(app, uuid)).toBe('CREATED');
    expect(second?.body.incident).toMatchObject({ message: REFUSAL });
    expect((await start(app, published, 'at-once', { order: 'B' })).status).toBe(200);
    const retry = () => app.request('POST', `${instancePath(uuid)}/retry`);
    expect((await retry()).status).toBe(409);

    await started(app, published, 'sender', { order: 'A' });
    await eventually(
      () => tokenRows(app, first?.body.instanceMetadata.processInstanceId ?? 0),
      (rows) => rows.some(({ status }) => status === 'ARRIVED'),
    );
    expect((await retry()).status).toBe(200);
    const { id } = await instanceRow(app, uuid);
    const waits = app.dataSource.getRepository(ProcessMessageWaitEntity);
    expect(await waits.findBy({ instanceId: id })).toHaveLength(1);
  });

  it('refuses an action that would make a second token wait, until the first has ended', async () => {
    const first = await started(app, published, 'at-once', { order: 'C' });
    const { uuid, token } = await started(app, published, 'after-task', { order: 'C' });
    expect(await execute(app, uuid, token.uuid, ui('go'), {})).toMatchObject({
      status: 409,
      body: { incident: { message: REFUSAL } },
    });
    await app.request('POST', `${instancePath(first.uuid)}/terminate`);
    await executed(app, uuid, token.uuid, ui('go'), {});
  });

  it('lets any number wait for a message without a correlation', async () => {
    await started(app, published, 'anyone');
    await started(app, published, 'anyone');
  });
});
