import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Body,
  Controller,
  Get,
  Global,
  Module,
  Post,
  Req,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthModule } from '../../../src/platform/auth/auth.module.js';
import { bearerMiddleware } from '../../../src/platform/auth/bearer.middleware.js';
import { recheckCaller, type Principal } from '../../../src/platform/user/principal.js';
import { DenialListener } from '../../../src/platform/auth/auth.guards.js';
import { JwtStrategy } from '../../../src/platform/auth/jwt.strategy.js';
import { oidcIssuer } from '../../../src/platform/auth/oidc-issuer.js';
import { Permission } from '../../../src/platform/auth/permission.js';
import { CurrentPrincipal, Public, RequirePermission } from '../../../src/platform/auth/access.decorators.js';
import type { TrustedIssuer } from '../../../src/platform/auth/trusted-issuer.js';
import { AllExceptionsFilter } from '../../../src/platform/http/all-exceptions.filter.js';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { Metrics } from '../../../src/platform/observability/metrics/metrics.js';
import { addressRateLimit } from '../../../src/platform/rate-limit/address-rate-limit.middleware.js';
import { RateLimit } from '../../../src/platform/rate-limit/principal-rate-limit.guard.js';
import { RateLimits } from '../../../src/platform/rate-limit/rate-limits.js';
import { Env } from '../../../src/platform/config/env.js';
import { AUDIENCE } from '../../support/issuer.js';
import { limitedEnv } from '../../support/limits/limits.js';

/** Records what happened inside the application since the last reset. */
export const seen = {
  bodies: 0,
  handlers: 0,
  denials: [] as { subject: string; permission: string }[],
  /** Called by the handler of `twice` before it authenticates its caller again. */
  between: (): void => undefined,
  /** Requests to `held` wait for this promise. */
  held: Promise.resolve(),
};

@Controller()
class GuardedController {
  @Post('guarded')
  @RequirePermission(Permission.IntegrationManagement)
  write(@CurrentPrincipal() principal: Principal, @Body() body: unknown): unknown {
    seen.handlers += 1;
    return { ...principal, permissions: [...principal.permissions.keys()], body };
  }

  @Get('any-caller')
  read(@CurrentPrincipal() principal: Principal): unknown {
    seen.handlers += 1;
    return { ...principal, permissions: [...principal.permissions.keys()] };
  }

  @Get('twice')
  async twice(@Req() request: IncomingMessage): Promise<unknown> {
    seen.between();
    return { subject: (await recheckCaller(request)).subject };
  }

  @Get('held')
  async held(): Promise<string> {
    seen.handlers += 1;
    await seen.held;
    return 'done';
  }

  @Get('chosen')
  @RequirePermission('DISCOVERY_PERMISSION')
  chosen(): string {
    return 'done';
  }

  @Get('costly')
  @RateLimit('connection-test')
  costly(): string {
    return 'done';
  }

  @Get('livez')
  @Public()
  live(): string {
    return 'ok';
  }

  @Get('metrics')
  forgottenToMarkAsPublic(): string {
    return 'closed';
  }
}

class RecordingDenials extends DenialListener {
  denied(_context: ExecutionContext, principal: Principal, permission: string): void {
    seen.denials.push({ subject: principal.subject, permission });
  }
}

export interface GuardedApp {
  readonly url: string;
  readonly nest: NestExpressApplication;
  stop(): Promise<void>;
}

export interface GuardedAppOptions {
  readonly issuerUrl: string;
  readonly settings?: Record<string, string>;
  /** Replaces the issuer of the settings. */
  readonly trusted?: (env: Env) => TrustedIssuer;
  readonly trustProxy?: number;
}

/** A small application with the production chain: address limit, bearer middleware, body parser, guards, filter. */
export async function startGuardedApp(options: GuardedAppOptions): Promise<GuardedApp> {
  const env = limitedEnv('production', {
    DATABASE_URL: 'mysql://not-used/svc',
    SECRETS_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    OIDC_ISSUER: options.issuerUrl,
    OIDC_AUDIENCE: AUDIENCE,
    'tokenLimits.jwksCooldownSeconds': '1',
    RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
    RATE_LIMIT_PRINCIPAL_PER_MINUTE: '0',
    'httpLimits.refusalDelayMs': '0',
    'httpLimits.callerRequests': '0',
    'httpLimits.callerAtWork': '0',
    LOG_LEVEL: 'silent',
    ...options.settings,
  });
  const nest = await NestFactory.create<NestExpressApplication>(appModule(env, options), {
    bodyParser: false,
    logger: false,
  });
  nest.set('trust proxy', options.trustProxy ?? 0);
  nest.use(addressRateLimit(nest.get(RateLimits, { strict: false })));
  nest.use(bearerMiddleware(nest.get(JwtStrategy, { strict: false })));
  nest.use((_request: unknown, _response: unknown, next: () => void) => {
    seen.bodies += 1;
    next();
  });
  nest.useBodyParser('json', { limit: 262_144 });
  await nest.listen(0, '127.0.0.1');
  const { port } = nest.getHttpServer().address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, nest, stop: () => nest.close() };
}

function appModule(env: Env, { trusted = oidcIssuer }: GuardedAppOptions): Type {
  @Global()
  @Module({
    providers: [
      { provide: Env, useValue: env },
      { provide: DenialListener, useClass: RecordingDenials },
      Metrics,
    ],
    exports: [Env, DenialListener, Metrics],
  })
  class SettingsModule {}

  @Module({
    imports: [SettingsModule, AuthModule.forIssuer({ inject: [Env], useFactory: trusted })],
    controllers: [GuardedController],
    providers: [Log, { provide: APP_FILTER, useClass: AllExceptionsFilter }],
  })
  class GuardedModule {}
  return GuardedModule;
}

/** Sends a request with this token, if any, and reads the JSON answer. */
export async function call(
  url: string,
  token?: string,
  init: RequestInit = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const headers = new Headers(init.headers);
  if (token !== undefined) {
    headers.set('authorization', `Bearer ${token}`);
  }
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  const body = (text.startsWith('{') ? JSON.parse(text) : { text }) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

/** A POST with a JSON body. */
export const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
