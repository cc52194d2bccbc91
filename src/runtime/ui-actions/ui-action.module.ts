import { Module } from '@nestjs/common';
import { ProcessRuntimeModule } from '../process-runtime.module.js';
import { UiActionController } from './ui-action.controller.js';

/** The endpoint by which front ends act in processes. */
@Module({ imports: [ProcessRuntimeModule], controllers: [UiActionController] })
export class UiActionModule {}
