import { Module } from '@nestjs/common';
import { ProcessRuntimeModule } from '../process-runtime.module.js';
import { UiActionController } from './ui-action.controller.js';

/** The endpoint with which front ends execute UI actions. */
@Module({ imports: [ProcessRuntimeModule], controllers: [UiActionController] })
export class UiActionModule {}
