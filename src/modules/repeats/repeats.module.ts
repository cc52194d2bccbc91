import { Module } from '@nestjs/common';
import { RepeatsService } from './repeats.service.js';
import { RepeatsRepository } from './storage/repeats.repository.js';

/** Calls that are sent again with their `Idempotency-Key`. */
@Module({ providers: [RepeatsRepository, RepeatsService], exports: [RepeatsService] })
export class RepeatsModule {}
