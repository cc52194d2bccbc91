import { Module } from '@nestjs/common';
import { RepeatsService } from './repeats.service.js';

/** Calls that are sent again with their `Idempotency-Key`. */
@Module({ providers: [RepeatsService], exports: [RepeatsService] })
export class RepeatsModule {}
