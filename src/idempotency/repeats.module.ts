import { Module } from '@nestjs/common';
import { RepeatsService } from './repeats.service.js';

/** Requests that are repeated with their `Idempotency-Key`. */
@Module({ providers: [RepeatsService], exports: [RepeatsService] })
export class RepeatsModule {}
