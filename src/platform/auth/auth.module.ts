import { Module } from '@nestjs/common';
import type { DynamicModule, FactoryProvider, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Clock } from '../clock.js';
import { PrincipalRateLimitGuard } from '../rate-limit/principal-rate-limit.guard.js';
import { RateLimits } from '../rate-limit/rate-limits.js';
import { RedisModule } from '../redis/redis.service.js';
import { JwtAuthGuard, PermissionsGuard } from './auth.guards.js';
import { JwtStrategy } from './jwt.strategy.js';
import { TrustedIssuer } from './trusted-issuer.js';

/**
 * Authentication and authorization: the bearer strategy (the setup mounts `bearerMiddleware` with it) and the global
 * guards, in this order: authentication, rate limit of the caller, permission. Denies by default.
 */
@Module({})
export class AuthModule implements OnModuleInit, OnModuleDestroy {
  constructor(private readonly trusted: TrustedIssuer) {}

  /**
   * @param provider factory of the issuer whose tokens are accepted; `inject: [Env], useFactory: oidcIssuer` in
   * production. A global module must provide `Env`.
   */
  static forIssuer(
    provider: Pick<FactoryProvider<TrustedIssuer>, 'inject' | 'useFactory'>,
    clock = new Clock(),
  ): DynamicModule {
    return {
      module: AuthModule,
      imports: [RedisModule],
      providers: [
        { provide: Clock, useValue: clock },
        JwtStrategy,
        RateLimits,
        { provide: TrustedIssuer, ...provider },
        { provide: APP_GUARD, useClass: JwtAuthGuard },
        { provide: APP_GUARD, useClass: PrincipalRateLimitGuard },
        { provide: APP_GUARD, useClass: PermissionsGuard },
      ],
      exports: [JwtStrategy, TrustedIssuer],
    };
  }

  onModuleInit(): void {
    this.trusted.keys.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.trusted.keys.stop();
    await this.trusted.introspection?.close();
  }
}
