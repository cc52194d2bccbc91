import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { Random } from '../../packages/engine/test/support/random.js';
import { doNumbered, prove, type Proof } from './support/proof.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import {
  ADMINISTRATOR,
  appsFor,
  APPS,
  callerOf,
  RULES,
  type Caller,
  guardedRoutes,
  OPERATIONS,
  pathOf,
  VARIANTS,
  type Operation,
  type Route,
  type Things,
} from './support/rights-operations.js';
import { deliverApplication, scanOf, serverOf } from './support/rights-site.js';

const CONCURRENCY = 8;

/** One call of the matrix. */
interface Call {
  caller: Caller;
  token: string;
  route: Route;
  operation: Operation;
  app: string;
  things: Things;
}

interface Figures {
  allowed: number;
  refused: number;
  filtered: number;
}

export const proof: Proof = {
  name: 'rights',
  claim: 'no operation that a model of the rules forbids succeeds, and none that it allows is refused',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['embedded'],
  async run(environment) {
    const seed = Number(process.env['PROVE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const matrix = await Matrix.prepare(environment, seed);
    try {
      const { allowed, refused, filtered } = await matrix.run(environment.short ? 6 : 150);
      return `${matrix.callers} callers x ${APPS.length} applications x ${matrix.routes.length} operations: ${allowed} allowed, ${refused} refused, ${filtered} lists as the model says (seed ${seed})`;
    } catch (error) {
      throw new Error(`with PROVE_SEED=${seed}`, { cause: error });
    } finally {
      await matrix.close();
    }
  },
};

/** Callers, applications and operations, each with each. */
class Matrix {
  readonly routes: Route[];
  callers = 0;
  private readonly agent = new Agent({ connections: CONCURRENCY * 4 });
  private readonly random: Random;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly url: string,
    private readonly things: ReadonlyMap<string, Things>,
    seed: number,
  ) {
    this.random = new Random(seed);
    this.routes = guardedRoutes(
      JSON.parse(readFileSync('openapi.json', 'utf8')) as Parameters<typeof guardedRoutes>[0],
    );
  }

  static async prepare(environment: ProofEnvironment, seed: number): Promise<Matrix> {
    const { url } = await environment.startService(await environment.emptyDatabase(), {
      PERMISSION_RULES: JSON.stringify(RULES),
      PROCESS_START_PERMISSION: 'starter',
      PROCESS_UI_ACTION_PERMISSION: 'actor',
      'processLimits.followersPerCaller': '1000',
      'httpLimits.rescansPerMinute': '0',
      'discoveryLimits.scansKept': '1000',
      'auditLimits.denialsPerMinute': '1',
      EGRESS_ALLOW: '',
    });
    const token = await environment.token({ sub: ADMINISTRATOR });
    const things = new Map<string, Things>();
    for (const app of APPS) {
      things.set(app, await deliverApplication(url, token, app));
    }
    // Only now have all applications registered their servers.
    const scanId = await scanOf(url, token);
    APPS.forEach((app) => things.set(app, { ...things.get(app), scanId }));
    return new Matrix(environment, url, things, seed);
  }

  async run(callers: number): Promise<Figures> {
    const figures = { allowed: 0, refused: 0, filtered: 0 };
    for (let number = 0; number < callers; number += 1) {
      const caller = callerOf(this.random, `caller-${number}`);
      const token = await this.environment.token(caller.claims);
      const calls = this.random.shuffled(this.callsOf(caller, token));
      await doNumbered(calls.length, CONCURRENCY, (index) => this.check(calls[index]!, figures));
      this.callers += 1;
    }
    return figures;
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private callsOf(caller: Caller, token: string): Call[] {
    return this.routes.flatMap((route) => {
      const known = OPERATIONS[route.id];
      prove(known !== undefined, `the model does not know ${route.id}`);
      const variant = VARIANTS[route.id];
      return [known, ...(variant === undefined ? [] : [variant])].flatMap((operation) => {
        const apps = operation.place === 'list' ? APPS.slice(0, 1) : APPS;
        return apps.map((app) => {
          const things = { ...this.things.get(app), ...operation.params };
          return { caller, token, route, operation, app, things };
        });
      });
    });
  }

  private async check(call: Call, figures: Figures): Promise<void> {
    const { caller, route, operation, app } = call;
    const { status, text } = await this.send(call);
    const said = `${caller.name} ${JSON.stringify(caller.claims)}: ${route.id} of ${app} answered ${status} ${text.slice(0, 300)}`;
    if (operation.place === 'list') {
      checkList(call, status, text, said);
      figures.filtered += 1;
    } else if (appsFor(caller, operation.permissions).has(app)) {
      const isRefused = status === 403 || (status === 404 && operation.place === 'thing');
      prove(!isRefused && status !== 401 && status < 500, `refused though allowed: ${said}`);
      figures.allowed += 1;
    } else {
      prove(refusals(caller, operation).includes(status), `not refused as it should be: ${said}`);
      figures.refused += 1;
    }
  }

  private async send({ token, route, operation, things }: Call): Promise<{ status: number; text: string }> {
    const { body } = operation;
    const response = await request(`${this.url}${pathOf(route, things)}`, {
      method: route.method as 'GET',
      dispatcher: this.agent,
      headers: {
        authorization: `Bearer ${token}`,
        'svc-platform': 'web',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(route.id.endsWith('WorkflowNode') ? { 'if-match': '"none"' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (String(response.headers['content-type']).startsWith('text/event-stream')) {
      // It would go on until the instance ends.
      response.body.on('error', () => undefined).destroy();
      return { status: response.statusCode, text: '' };
    }
    return { status: response.statusCode, text: await response.body.text() };
  }
}

/** How somebody is refused who may not do an operation for an application. */
function refusals(caller: Caller, { place, permissions }: Operation): number[] {
  const [first] = permissions;
  const mayElsewhere = first !== undefined && (caller.granted.get(first)?.size ?? 0) > 0;
  if (place === 'path' || !mayElsewhere) {
    return [403];
  }
  // A lane is told (403) to who may read the instance.
  return permissions.length > 1 ? [403, 404] : [404];
}

/** Whose things a list shows: applications are told apart by the ids of what was delivered to each. */
function checkList({ caller, operation }: Call, status: number, text: string, said: string): void {
  const apps = appsFor(caller, operation.permissions);
  if (operation.isGuarded && apps.size === 0) {
    prove(status === 403, `not refused as it should be: ${said}`);
    return;
  }
  prove(status === 200, `refused though allowed: ${said}`);
  if (operation.tellsNoApps) {
    return;
  }
  const isScan = operation.permissions.length === 0;
  const seen = isScan ? appsFor(caller, ['integration-management']) : apps;
  // Of a system the key of the component holds the resource name, which says the application for certain.
  const shown = APPS.filter((app) => text.includes(isScan ? `-${serverOf(app)}-` : `"${app}"`));
  prove(
    shown.length === seen.size && shown.every((app) => seen.has(app)),
    `shows ${shown.join(', ')}, not ${[...seen].join(', ')}: ${said}`,
  );
}
