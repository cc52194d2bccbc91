import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { connectionTestPath, createPath, detailsPath, toolPath } from '../../../test/support/factories.js';
import {
  flows,
  node,
  processFile,
  taskProcess,
  userTask,
} from '../../../test/support/runtime/process-files.js';

const REQUEST_TIMEOUT_MS = 600_000;
/** An application version that is never committed. */
const TESTED = 'tested';
const RESCAN = '/api/platform/discover';
const SERVERS_OF_A_RESCAN = 50;
/** Slightly below the default limit of a body. */
const BODY_BYTES = 258_000;

/** Time that a process may multiply before an operator terminates it. */
const MULTIPLYING_MS = 5_000;
const MULTIPLYING = processFile(
  'p',
  `${node('startEvent', 'start')}
   ${node(
     'callActivity',
     'call',
     '<bpmn:multiInstanceLoopCharacteristics svc:collection="items"/>',
     'calledElement="p" svc:waits="false"',
   )}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>call call>a a>end')}`,
);

/** A hostile caller or author with its own token. */
export class Attacker {
  private readonly agent = new Agent({
    connections: 50,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
  });
  private versions = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
    readonly appId: string,
  ) {}

  private get headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
      'svc-platform': 'web',
      'if-match': '*',
    };
  }

  /**
   * Sends a request.
   * @returns status and text of the response
   */
  async send(
    method: 'GET' | 'PUT' | 'POST' | 'PATCH',
    path: string,
    body = method === 'GET' ? null : '{}',
  ): Promise<{ status: number; text: string }> {
    const answer = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      headers: this.headers,
      body,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** Sends `count` starts on up to `connections` connections. */
  async flood(path: string, count: number, connections: number): Promise<void> {
    const agent = new Agent({
      connections,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
    });
    const { headers } = this;
    const one = async (): Promise<void> => {
      const { body } = await request(`${this.url}${path}`, {
        method: 'POST',
        dispatcher: agent,
        headers,
        body: '{}',
      });
      await body.dump();
    };
    await Promise.all(Array.from({ length: count }, one));
    await agent.destroy();
  }

  /** Delivers a package into a new version, whether or not the service accepts it. */
  async deliver(members: string): Promise<{ path: string; status: number; text: string }> {
    this.versions += 1;
    const path = `/appmanager/api/resource/app/${this.appId}/app-version/v${this.versions}`;
    const application = `"application":{"formatVersion":1,"appId":"${this.appId}","name":"x"}`;
    const own = members.startsWith('{') ? members.slice(1, -1) : members;
    return { path, ...(await this.send('PUT', `${path}/package`, `{${application},${own}}`)) };
  }

  /**
   * Creates a build of one process.
   * @returns path for starting it; undefined if the service rejects the process
   */
  async publish(name: string, bpmn: string): Promise<string | undefined> {
    const { path, status } = await this.deliver(
      `"processes":${JSON.stringify([{ file: 'processes/p.bpmn', bpmn }])}`,
    );
    if (status >= 300) {
      return undefined;
    }
    return `/rtm/api/runtime/app/${this.appId}/build/${await this.build(path)}/process-name/${name}/start`;
  }

  /**
   * Creates a build of the workflow `flow` of a package.
   * @param prepare called with the version before the build is created
   * @returns path for running it
   */
  async publishWorkflow(
    members: string,
    prepare?: (attacker: Attacker, version: string) => Promise<unknown>,
  ): Promise<string> {
    const { path, status, text } = await this.deliver(members);
    if (status >= 300) {
      throw new Error(text.slice(0, 1_000));
    }
    await prepare?.(this, `v${this.versions}`);
    return `/rtm/api/runtime/app/${this.appId}/build/${await this.build(path)}/workflow/flow/test-run`;
  }

  private async build(path: string): Promise<string> {
    await this.send('POST', `${path}/commit`);
    const { text } = await this.send('POST', `${path}/build`);
    return (JSON.parse(text) as { buildId: string }).buildId;
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** Something that once stalled the service. */
export interface Attack {
  readonly name: string;
  /**
   * Sets up the attack.
   * @returns function that performs the attack and is timed
   */
  prepare(attacker: Attacker): Promise<() => Promise<unknown>>;
}

/** Returns a JSON list of as many copies of a member as fit. */
export function listOf(member: string, bytes = BODY_BYTES): string {
  const count = Math.floor((bytes - 20) / (member.length + 1));
  return `[${Array.from({ length: count }, () => member).join(',')}]`;
}

/** Returns a JSON body with such a list. */
export function bodyOf(member: string, bytes?: number): string {
  return `{"items":${listOf(member, bytes)}}`;
}

/** Returns a process whose start validates the body against a schema. */
export function processWithSchema(name: string, schema: unknown): string {
  const text = JSON.stringify(schema).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return processFile(
    name,
    `<bpmn:extensionElements><svc:inputSchema>${text}</svc:inputSchema></bpmn:extensionElements>
     ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
  );
}

/** Returns a process with a gateway that evaluates an expression. */
export function processWithCondition(name: string, condition: string): string {
  return processFile(
    name,
    `${node('startEvent', 'start')}${node('exclusiveGateway', 'choice')}${userTask('a')}${userTask('b')}
     ${node('endEvent', 'end')}
     ${flows(`start>choice choice>a[${condition}] choice>b[!(${condition})] a>end b>end`)}`,
  );
}

/** Returns a function that starts a process `count` times concurrently. */
export function starts(
  attacker: Attacker,
  path: string | undefined,
  body: string,
  count: number,
): () => Promise<unknown> {
  return () =>
    path === undefined
      ? Promise.resolve()
      : Promise.all(Array.from({ length: count }, () => attacker.send('POST', path, body)));
}

function listSchema(fields: number): unknown {
  const names = Array.from({ length: fields }, (_, index) => [`field${index}`, { type: 'string' }]);
  return {
    type: 'object',
    properties: {
      items: { type: 'array', items: { type: 'object', properties: Object.fromEntries(names) as unknown } },
    },
  };
}

const bySchema = (name: string, schema: unknown, body: string, count: number): Attack => ({
  name,
  prepare: async (attacker) =>
    starts(attacker, await attacker.publish('p', processWithSchema('p', schema)), body, count),
});

const delivery = (name: string, members: () => string, count = 1): Attack => ({
  name,
  prepare: (attacker) => {
    const text = members();
    return Promise.resolve(() => Promise.all(Array.from({ length: count }, () => attacker.deliver(text))));
  },
});

function bpmnWith(elements: string): string {
  const bpmn = taskProcess('p').replace('</bpmn:process>', `${elements}</bpmn:process>`);
  return `"processes":${JSON.stringify([{ file: 'processes/p.bpmn', bpmn }])}`;
}

/** Returns attacks through MCP servers: connection tests of one with costly schemas, and the tools of one with many. */
export function serverAttacks({ costly, large }: { costly: string; large: string }): readonly Attack[] {
  const authorization = { type: 'NO_AUTH' };
  const testOf = (baseUrl: string): string => JSON.stringify({ baseUrl, authorization });
  const createSystem = async (
    attacker: Attacker,
    baseUrl: string,
    resourceName = new URL(baseUrl).port,
  ): Promise<string> => {
    const payload = { name: 'Costly', type: 'MCP', baseUrl, authorization, description: 'x' };
    const create = JSON.stringify({ action: 'CREATE', resourceName, payload });
    const { text } = await attacker.send('PATCH', createPath(attacker.appId, TESTED), create);
    return (JSON.parse(text) as { resourceId: string }).resourceId;
  };
  return [
    {
      name: 'tests of a server with costly schemas',
      prepare: async (attacker) => {
        await createSystem(attacker, costly);
        const path = connectionTestPath(attacker.appId, TESTED);
        return () =>
          Promise.all(Array.from({ length: 4 }, () => attacker.send('PATCH', path, testOf(costly))));
      },
    },
    {
      name: 'rescans of many servers with costly answers',
      prepare: async (attacker) => {
        for (let count = 0; count < SERVERS_OF_A_RESCAN; count += 1) {
          await createSystem(attacker, count % 2 === 0 ? costly : large, `scanned${count}`);
        }
        return () => Promise.all(Array.from({ length: 4 }, () => attacker.send('GET', RESCAN)));
      },
    },
    {
      name: 'reading and switching tools with large schemas',
      prepare: async (attacker) => {
        const resourceId = await createSystem(attacker, large);
        const tested = await attacker.send(
          'PATCH',
          connectionTestPath(attacker.appId, TESTED),
          testOf(large),
        );
        const read = detailsPath(resourceId, attacker.appId, TESTED);
        const { text } = await attacker.send('GET', read);
        const { id: systemId, tools } = JSON.parse(text) as { id: string; tools: { id: string }[] };
        if (tools.length === 0) {
          throw new Error(`No tools were synchronized: ${text.slice(0, 500)} ${tested.text.slice(0, 1500)}`);
        }
        const toggles = tools
          .slice(0, 2)
          .map(({ id: toolId }) => toolPath({ resourceId, systemId, toolId }, attacker.appId, TESTED));
        return () =>
          Promise.all([
            ...Array.from({ length: 4 }, () => attacker.send('GET', read)),
            ...toggles.map((path) => attacker.send('PATCH', path, '{"enabled":true}')),
          ]);
      },
    },
  ];
}

/** Attacks that once stalled the service, named after what they cost. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'lists of empty lists',
    prepare: async (attacker) =>
      starts(attacker, await attacker.publish('p', taskProcess('p', userTask('a'))), bodyOf('[]'), 60),
  },
  bySchema('a list by a schema of 1,000 names', listSchema(1_000), bodyOf('{}'), 4),
  bySchema('lists of empty lists by a schema of 25 names', listSchema(25), bodyOf('[]'), 30),
  {
    name: 'a costly pattern in an expression, 500 times',
    prepare: async (attacker) => {
      const condition = `items.all(x, 'a'.matches('(?i)[\\\\pL\\\\pN\\\\pS\\\\pP]*[\\\\pL\\\\pN\\\\pS\\\\pP]*b?') )`;
      const path = await attacker.publish('p', processWithCondition('p', condition));
      return starts(attacker, path, `{"items":[${Array.from({ length: 500 }, () => '1').join()}]}`, 4);
    },
  },
  delivery('a pattern of many states', () => {
    const pattern = '(\\pL?){999}'.repeat(5_000);
    return `"processes":${JSON.stringify([
      {
        file: 'processes/p.bpmn',
        bpmn: processWithSchema('p', { type: 'object', properties: { a: { type: 'string', pattern } } }),
      },
    ])}`;
  }),
  delivery('50,000 unknown elements', () => bpmnWith('<x:y xmlns:x="urn:x"/>'.repeat(50_000))),
  delivery('200,000 misplaced elements', () => bpmnWith('<bpmn:a/>'.repeat(200_000))),
  delivery('a package of empty lists', () => `"systems":[${'[],'.repeat(2_600_000)}[]]`),
  {
    name: 'a process that calls itself five times',
    prepare: async (attacker) => {
      const path = await attacker.publish('p', MULTIPLYING);
      return async () => {
        const { text } = await attacker.send('POST', path ?? '', '{"items":[1,2,3,4,5]}');
        await sleep(MULTIPLYING_MS);
        const { uuid } = JSON.parse(text) as { uuid: string };
        await attacker.send('POST', `/rtm/api/runtime/process-instance/${uuid}/terminate`);
      };
    },
  },
  {
    name: '2,000 requests of one caller, 200 concurrently',
    prepare: async (attacker) => {
      const path = await attacker.publish('p', taskProcess('p', userTask('a')));
      return () => attacker.flood(path ?? '', 2_000, 200);
    },
  },
  delivery('20 concurrent packages', () => `"systems":[${'{"a":[]},'.repeat(550_000)}{}]`, 20),
];
