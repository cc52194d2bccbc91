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
  type ResourceIds,
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
  resourceIds: ResourceIds;
}

interface Figures {
  allowed: number;
  refused: number;
  filtered: number;
}

export const proof: Proof = {
  name: 'rights',
  claim: 'no operation that the permission model forbids succeeds, and none that it allows is rejected',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['embedded'],
  async run(environment) {
    const seed = Number(process.env['PROVE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const matrix = await Matrix.prepare(environment, seed);
    try {
      const { allowed, refused, filtered } = await matrix.run(environment.short ? 6 : 150);
      return `${matrix.callers} callers x ${APPS.length} applications x ${matrix.routes.length} operations: ${allowed} allowed, ${refused} rejected, ${filtered} lists match the model (seed ${seed})`;
    } catch (error) {
      throw new Error(`with PROVE_SEED=${seed}`, { cause: error });
    } finally {
      await matrix.close();
    }
  },
};

/** All combinations of callers, applications and operations. */
class Matrix {
  readonly routes: Route[];
  callers = 0;
  private readonly agent = new Agent({ connections: CONCURRENCY * 4 });
  private readonly random: Random;

  private constructor(
    private readonly environment: ProofEnvironment,
    private readonly url: string,
    private readonly resourceIds: ReadonlyMap<string, ResourceIds>,
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
    const resourceIds = new Map<string, ResourceIds>();
    for (const app of APPS) {
      resourceIds.set(app, await deliverApplication(url, token, app));
    }
    // Scan after all applications have registered their servers.
    const scanId = await scanOf(url, token);
    APPS.forEach((app) => resourceIds.set(app, { ...resourceIds.get(app), scanId }));
    return new Matrix(environment, url, resourceIds, seed);
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
      prove(known !== undefined, `the model has no entry for ${route.id}`);
      const variant = VARIANTS[route.id];
      return [known, ...(variant === undefined ? [] : [variant])].flatMap((operation) => {
        const apps = operation.place === 'list' ? APPS.slice(0, 1) : APPS;
        return apps.map((app) => {
          const resourceIds = { ...this.resourceIds.get(app), ...operation.params };
          return { caller, token, route, operation, app, resourceIds };
        });
      });
    });
  }

  private async check(call: Call, figures: Figures): Promise<void> {
    const { caller, route, operation, app } = call;
    const { status, text } = await this.send(call);
    const context = `${caller.name} ${JSON.stringify(caller.claims)}: ${route.id} of ${app} answered ${status} ${text.slice(0, 300)}`;
    if (operation.place === 'list') {
      checkList(call, status, text, context);
      figures.filtered += 1;
    } else if (appsFor(caller, operation.permissions).has(app)) {
      const isRefused = status === 403 || (status === 404 && operation.place === 'thing');
      prove(!isRefused && status !== 401 && status < 500, `rejected although allowed: ${context}`);
      figures.allowed += 1;
    } else {
      prove(refusals(caller, operation).includes(status), `not rejected as expected: ${context}`);
      figures.refused += 1;
    }
  }

  private async send({
    token,
    route,
    operation,
    resourceIds,
  }: Call): Promise<{ status: number; text: string }> {
    const { body } = operation;
    const response = await request(`${this.url}${pathOf(route, resourceIds)}`, {
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
      // The stream would continue until the instance ends.
      response.body.on('error', () => undefined).destroy();
      return { status: response.statusCode, text: '' };
    }
    return { status: response.statusCode, text: await response.body.text() };
  }
}

/** Returns the possible statuses for a caller who may not perform an operation for an application. */
function refusals(caller: Caller, { place, permissions }: Operation): number[] {
  const [first] = permissions;
  const mayElsewhere = first !== undefined && (caller.granted.get(first)?.size ?? 0) > 0;
  if (place === 'path' || !mayElsewhere) {
    return [403];
  }
  // Callers who may read the instance get 403 for its lanes instead of 404.
  return permissions.length > 1 ? [403, 404] : [404];
}

/**
 * Checks that a list shows exactly the permitted applications, recognized by the ids of the resources delivered to each.
 */
function checkList({ caller, operation }: Call, status: number, text: string, context: string): void {
  const apps = appsFor(caller, operation.permissions);
  if (operation.isGuarded && apps.size === 0) {
    prove(status === 403, `not rejected as expected: ${context}`);
    return;
  }
  prove(status === 200, `rejected although allowed: ${context}`);
  if (operation.hidesApps) {
    return;
  }
  const isScan = operation.permissions.length === 0;
  const seen = isScan ? appsFor(caller, ['integration-management']) : apps;
  // The component key of a system contains the resource name, which identifies the application.
  const shown = APPS.filter((app) => text.includes(isScan ? `-${serverOf(app)}-` : `"${app}"`));
  prove(
    shown.length === seen.size && shown.every((app) => seen.has(app)),
    `shows ${shown.join(', ')}, not ${[...seen].join(', ')}: ${context}`,
  );
}
