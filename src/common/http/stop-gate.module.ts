import { Global, Module } from '@nestjs/common';
import { StopGate } from './stop-gate.js';

/** The one gate of the process. */
@Global()
@Module({ providers: [StopGate], exports: [StopGate] })
export class StopGateModule {}
