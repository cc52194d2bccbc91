import { Module } from '@nestjs/common';
import { CallerController, ConsoleSettingsController } from './console.controller.js';

/** Routes that only the console in the browser needs: its settings and the signed-in caller. */
@Module({ controllers: [CallerController, ConsoleSettingsController] })
export class ConsoleModule {}
