import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RequestGuard } from './request.guard.js';

/** The guard that comes behind those of `AuthModule`, which therefore has to be imported before. */
@Module({ providers: [{ provide: APP_GUARD, useClass: RequestGuard }] })
export class RequestChecksModule {}
