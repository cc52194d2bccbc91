import { Module } from '@nestjs/common';
import { CallerController, ConsoleSettingsController } from './console.controller.js';

/** What the console in the browser needs besides the interface that all callers have: its settings, and who is signed in. */
@Module({ controllers: [CallerController, ConsoleSettingsController] })
export class ConsoleModule {}
