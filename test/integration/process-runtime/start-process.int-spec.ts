import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { sendRaw } from '../http/raw-http.js';
import { start, startPath, started } from '../../support/runtime/runtime-client.js';
import {
  countInstances,
  eventRows,
  incidentRows,
  instanceRow,
  tokenRows,
} from '../../support/runtime/runtime-rows.js';

const INPUT_SCHEMA = {
  type: 'object',
  required: ['amount', 'client'],
  properties: {
    amount: { type: 'number', minimum: 1 },
    client: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
  },
};

const withSchema = processFile(
  'strict',
  `<bpmn:extensionElements><svc:inputSchema>${JSON.stringify(INPUT_SCHEMA)}</svc:inputSchema></bpmn:extensionElements>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const severalStarts = processFile(
  'several',
  `${node('startEvent', 'north', '', 'svc:startCondition="north"')}
   ${node('startEvent', 'south', '', 'svc:startCondition="south"')}
   ${userTask('n')}${userTask('s')}${node('endEvent', 'end')}
   ${flows('north>n south>s n>end s>end')}`,
);
const stopsAtOnce = processFile(
  'stops',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'choice')}${node('endEvent', 'yes')}${node('endEvent', 'no')}
   ${flows('start>choice choice>yes[amount > 1] choice>no[amount <= 1]')}`,
);
const laned = processFile(
  'laned',
  `<bpmn:laneSet id="lanes"><bpmn:lane id="clerk" name="Clerk" svc:execute="loan-clerk">
     <bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>a</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef>
   </bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);

describe('POST /rtm/api/runtime/app/{appId}/build/{buildId}/process-name/{processDefinitionName}/start', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      CORS_ORIGINS: 'https://front.example.com',
      PERMISSION_RULES: JSON.stringify({
        'integration-management': [{ claim: 'scope', has: 'integration:manage' }],
        'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
        'loan-clerk': [{ claim: 'scope', has: 'loan:clerk' }],
      }),
    });
    published = await publish(app, {
      bpmn: [
        taskProcess('plain', userTask('a'), userTask('b')),
        taskProcess('[retail]onboarding(1)', userTask('c')).replaceAll(
          'id="[retail]onboarding(1)"',
          'id="P1"',
        ),
        taskProcess('short'),
        withSchema,
        severalStarts,
        stopsAtOnce,
        laned,
      ],
    });
  });
  afterAll(() => app.close());

  it('starts an instance and returns its position', async () => {
    const { status, body } = await start(app, published, 'plain', { amount: 7, client: { name: 'Jane' } });

    expect(status).toBe(200);
    expect(body).toEqual({
      processDefinitionSvcUuid: expect.stringMatching(/./),
      buildId: published.buildId,
      buildStatusAtStart: 'COMMITTED',
      applicationId: published.appId,
      parentApplicationId: null,
      rootApplicationId: published.appId,
      processDefinitionName: 'plain',
      tokens: [
        {
          id: expect.any(Number),
          uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          state: 'ACTIVE',
          statusCurrentNode: expect.stringMatching(/^(ARRIVED|EXECUTED_PARTIAL)$/),
          startNodeId: expect.any(Number),
          currentNodeId: expect.any(Number),
          currentNodeName: 'a',
          dateUpdated: expect.stringMatching(/Z$/),
          visit: expect.any(Number),
        },
      ],
      state: 'STARTED',
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      instanceMetadata: {
        processInstanceId: expect.any(Number),
        processInstanceUuid: body.uuid,
      },
    });
  });

  it('stores instance, token and a history without gaps', async () => {
    const instance = await started(app, published, 'plain', { amount: 7 });
    const row = await instanceRow(app, instance.uuid);
    const id = instance.instanceMetadata.processInstanceId;

    expect(row).toMatchObject({ id, state: 'STARTED', platform: 'web', processName: 'plain', depth: 0 });
    expect(row.content.data).toEqual({ amount: 7 });
    expect(row.startedBy).toMatchObject({ userName: 'jane.doe' });
    expect(await tokenRows(app, id)).toMatchObject([
      { uuid: instance.token.uuid, state: 'ACTIVE', live: true },
    ]);
    const events = await eventRows(app, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(row.seq).toBe(events.length);
    expect(new Set(events.map(({ actor }) => actor))).toEqual(new Set(['jane.doe']));
  });

  it('treats a missing body as an empty object', async () => {
    const { status, body } = await start(app, published, 'plain');

    expect(status).toBe(200);
    expect((await instanceRow(app, body.uuid)).content.data).toEqual({});
  });

  it('finishes immediately when nothing waits', async () => {
    const { body } = await start(app, published, 'short');

    expect(body).toMatchObject({ state: 'FINISHED', tokens: [] });
    expect(await instanceRow(app, body.uuid)).toMatchObject({ state: 'FINISHED', endedAt: expect.any(Date) });
  });

  it('decodes the name in the path', async () => {
    const { status, body } = await start(app, published, '[retail]onboarding(1)');

    expect({ status, name: body['processDefinitionName'] }).toEqual({
      status: 200,
      name: '[retail]onboarding(1)',
    });
  });

  it('sends the headers of the contract', async () => {
    const { headers } = await start(app, published, 'plain', {}, { headers: { 'accept-encoding': 'gzip' } });

    const sent = (name: string): string | null => headers.get(name);
    expect(sent('access-control-allow-credentials')).toBe('true');
    expect(sent('access-control-allow-headers')).toContain('svc-platform');
    expect(sent('access-control-allow-methods')).toBe('GET, PUT, POST, DELETE, PATCH');
    expect(sent('access-control-allow-origin')).toBe(app.url);
    expect(sent('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    expect(sent('content-encoding')).toBe('gzip');
    expect(sent('vary')).toContain('Accept-Encoding');
    expect(sent('x-content-type-options')).toBe('nosniff');
    expect(sent('x-xss-protection')).toBe('0');
    expect(sent('content-type')).toContain('application/json');
  });

  it.each(['https://front.example.com', 'https://evil.example.com', 'null', undefined])(
    'sends the CORS headers of its preflight, also on refusals, to the origin %s',
    async (origin) => {
      const from: Record<string, string> = origin === undefined ? {} : { origin };
      const path = startPath(published, 'plain');
      const preflight = await fetch(`${app.url}${path}`, {
        method: 'OPTIONS',
        headers: { ...from, 'access-control-request-method': 'POST' },
      });
      const names = ['origin', 'credentials', 'methods', 'headers'].map(
        (name) => `access-control-allow-${name}`,
      );
      const of = (sent: { get(name: string): string | null }) => names.map((name) => sent.get(name));
      expect(of(preflight.headers)).not.toContain(null);

      const answer = await start(app, published, 'plain', {}, { headers: from });
      const refused = await start(app, published, 'plain', {}, { headers: from, token: null });
      expect([answer.status, refused.status]).toEqual([200, 401]);
      expect(of(answer.headers)).toEqual(of(preflight.headers));
      expect(of(refused.headers)).toEqual(of(preflight.headers));
    },
  );

  it('names its own origin for any Host of the request', async () => {
    const path = startPath(published, 'plain');
    const foreign = await sendRaw(app.url, {
      parts: [
        `POST ${path} HTTP/1.1\r\nHost: evil.example.com\r\nsvc-platform: web\r\nContent-Type: application/json\r\n` +
          `Authorization: Bearer ${await app.tokenWith({})}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      ],
    });
    expect(foreign.status).toBe(200);
    expect(foreign.text).toContain(`Access-Control-Allow-Origin: ${app.url}\r\n`);
    expect(foreign.text).not.toContain('evil.example.com');
  });

  it.each([
    ['https://front.example.com', 'https://front.example.com'],
    ['https://evil.example.com', 'own'],
    ['null', 'own'],
  ])('allows the origin %s as the settings say', async (origin, allowed) => {
    const { headers } = await start(app, published, 'plain', {}, { headers: { origin } });

    expect(headers.get('access-control-allow-origin')).toBe(allowed === 'own' ? app.url : allowed);
  });

  it('picks the start event by its condition', async () => {
    const { body } = await start(app, published, 'several', { startCondition: 'south', a: 1 });

    expect(body.tokens[0]?.currentNodeName).toBe('s');
    expect((await instanceRow(app, body.uuid)).content.data).toEqual({ a: 1 });
  });

  it.each([
    ['several', {}, 'Multiple start nodes found, but start condition not specified.', undefined],
    ['several', { startCondition: 'west' }, 'Start node for process definition not found.', undefined],
    ['plain', { startCondition: 'west' }, 'Start node for process definition not found.', undefined],
    ['several', { startCondition: 7 }, 'Request validation failed.', 'startCondition: must be a string'],
    ['strict', {}, 'Some mandatory params are missing.', 'amount, client'],
    ['strict', { client: {} }, 'Some mandatory params are missing.', 'amount, client.name'],
    [
      'strict',
      { amount: 'x', client: { name: 7 } },
      'Request validation failed.',
      'amount: must be of type number; client.name: must be of type string',
    ],
    [
      'plain',
      { constructor: 1 },
      'Request validation failed.',
      'constructor: is a name that no field may have',
    ],
  ])('answers 400 for %s with %j', async (name, data, message, details) => {
    const { status, body } = await start(app, published, name, data);

    expect({ status, message: body.message, details: body.details }).toEqual({
      status: 400,
      message,
      details,
    });
  });

  it.each(['[1]', '"text"', 'null', '{"a":'])('answers 400 for the body %s', async (rawBody) => {
    expect((await start(app, published, 'plain', undefined, { rawBody })).status).toBe(400);
  });

  it.each([undefined, '', 'x'.repeat(33), 'we b', 'wéb'])(
    'answers 400 for svc-platform %j',
    async (platform) => {
      const { status, body } = await app.request('POST', startPath(published, 'plain'), {
        body: {},
        headers: platform === undefined ? {} : { 'svc-platform': Buffer.from(platform).toString('latin1') },
      });

      expect({ status, details: String(body['details']).split(':')[0] }).toEqual({
        status: 400,
        details: 'svc-platform',
      });
    },
  );

  it.each([
    ['an unknown build', { buildId: 'none' }, 'plain', 'Build not found for this application.'],
    ['an unknown application', { appId: 'none' }, 'plain', 'Build not found for this application.'],
    ['an unknown process', {}, 'none', 'Process definition not found.'],
  ])('answers 404 for %s before it parses the body', async (_, override, name, message) => {
    const target = { ...published, ...override };
    const { status, body } = await start(app, target, name, undefined, { rawBody: '{"' });

    expect({ status, message: body.message }).toEqual({ status: 404, message });
  });

  it.each(['a b', 'a/b', 'x'.repeat(65), 'ä'])('answers 400 for the name %s', async (name) => {
    expect((await start(app, published, name, {})).status).toBe(400);
  });

  it('answers 403 in a lane whose permissions the caller lacks, and starts nothing', async () => {
    const before = await countInstances(app, published.appId);
    const { status, body } = await start(app, published, 'laned', {});
    const clerk = await app.tokenWith({ scope: 'loan:clerk' });

    expect({ status, message: body.message }).toEqual({
      status: 403,
      message: 'Insufficient permissions to act in this lane of the process',
    });
    expect(await countInstances(app, published.appId)).toBe(before);
    expect((await start(app, published, 'laned', {}, { token: clerk })).status).toBe(200);
  });

  it('stores a process that stops immediately as CREATED with its incident, and answers 409 that names both', async () => {
    const { status, body, headers } = await start(app, published, 'stops', { amount: 'many' });
    const uuid = body.incident?.processInstanceUuid ?? '';
    const row = await instanceRow(app, uuid);
    const [incident] = await incidentRows(app, row.id);

    expect({ status, body }).toEqual({
      status: 409,
      body: {
        error: 'Conflict',
        message: `The process stopped with an incident: ${incident?.message}`,
        status: 409,
        details: `process instance ${uuid}, incident ${incident?.uuid}, GATEWAY_EVALUATION at choice`,
        incident: {
          uuid: incident?.uuid,
          processInstanceUuid: uuid,
          code: 'GATEWAY_EVALUATION',
          bpmnElementId: 'choice',
          message: incident?.message,
        },
      },
    });
    expect(row).toMatchObject({
      state: 'CREATED',
      openIncidents: 1,
      content: { data: { amount: 'many' } },
    });
    expect(await tokenRows(app, row.id)).toEqual([]);
    expect(await incidentRows(app, row.id)).toMatchObject([
      { state: 'OPEN', type: 'GATEWAY_EVALUATION', requestId: headers.get('x-request-id'), tokenId: null },
    ]);
    expect((await eventRows(app, row.id)).map(({ kind }) => kind)).toEqual(['INCIDENT_RAISED']);
  });

  it('answers 400 with the message of the engine if it stops because data is missing', async () => {
    const { status, body } = await start(
      app,
      published,
      'stops',
      {},
      { headers: { accept: 'application/problem+json' } },
    );

    expect({ status, code: body.incident?.code }).toEqual({ status: 400, code: 'GATEWAY_EVALUATION' });
    expect(body.incident?.message).toContain('amount');
    expect(body).toMatchObject({ title: 'Bad Request', incident: { bpmnElementId: 'choice' } });
  });

  describe('with an Idempotency-Key', () => {
    it('starts one instance for ten concurrent equal calls', async () => {
      const before = await countInstances(app, published.appId);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          start(app, published, 'plain', { a: 1, b: 2 }, { key: 'ten-at-once' }),
        ),
      );

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await countInstances(app, published.appId)).toBe(before + 1);
    });

    it('replays the answer byte for byte, in any order of the members', async () => {
      const first = await start(app, published, 'plain', { a: 1, b: 2 }, { key: 'again' });
      const second = await start(app, published, 'plain', { b: 2, a: 1 }, { key: 'again' });

      expect(second).toMatchObject({ status: 200, text: first.text });
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      expect(second.headers.get('idempotent-replayed')).toBe('true');
    });

    it('separates keys of callers and processes', async () => {
      const other = await app.tokenWith({ sub: 'user-2' });
      const answers = [
        await start(app, published, 'plain', {}, { key: 'mine' }),
        await start(app, published, 'plain', {}, { key: 'mine', token: other }),
        await start(app, published, 'short', {}, { key: 'mine' }),
      ];

      expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(3);
    });

    it('stores one instance of a process that stops immediately, despite concurrent and later repeats', async () => {
      const before = await countInstances(app, published.appId);
      const call = () => start(app, published, 'stops', { amount: 'many' }, { key: 'stops' });
      const atOnce = await Promise.all(Array.from({ length: 8 }, call));
      const answers = [...atOnce, await call(), await call()];
      const [first] = answers;

      expect(await countInstances(app, published.appId)).toBe(before + 1);
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(first?.status).toBe(409);
      const marks = answers.map(({ headers }) => headers.get('idempotent-replayed'));
      expect(marks.filter((mark) => mark === null)).toHaveLength(1);
      expect(marks.at(-1)).toBe('true');
      const { id } = await instanceRow(app, first?.body.incident?.processInstanceUuid ?? '');
      expect(await incidentRows(app, id)).toHaveLength(1);
      expect((await eventRows(app, id)).map(({ kind }) => kind)).toEqual(['INCIDENT_RAISED']);
    });

    it('can be reused after a refused call, which stores nothing', async () => {
      const before = await countInstances(app, published.appId);
      await start(app, published, 'strict', {}, { key: 'refused' });
      expect(await countInstances(app, published.appId)).toBe(before);
      const { status } = await start(
        app,
        published,
        'strict',
        { amount: 1, client: { name: 'x' } },
        { key: 'refused' },
      );

      expect(status).toBe(200);
    });

    it.each(['', 'a b', 'x'.repeat(256)])('answers 400 for the key %j', async (key) => {
      const { status, body } = await start(app, published, 'plain', {}, { key });

      expect({ status, details: String(body.details).split(':')[0] }).toEqual({
        status: 400,
        details: 'Idempotency-Key',
      });
    });
  });
});

describe('a deployment with small data limits', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      'dataLimits.bytes': '4096',
      'dataLimits.values': '1000',
    });
    published = await publish(app, { bpmn: taskProcess('plain', userTask('a')) });
  });
  afterAll(() => app.close());

  it.each([
    ['bytes', { text: 'x'.repeat(4_096) }, '4096 bytes'],
    ['values', { list: Array(999).fill(1) }, '1000 values'],
  ])('answers 400 for data of more %s than an instance may have', async (_, data, limit) => {
    const { status, body } = await start(app, published, 'plain', data);

    expect({ status, message: body.message, details: body['details'] }).toEqual({
      status: 400,
      message: 'The process data would become too large.',
      details: `the limit is ${limit}`,
    });
  });
});
