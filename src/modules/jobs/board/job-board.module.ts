import { Module } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import { JobRelay } from '../broker/job-relay.js';
import { BOARD_PATH, JobBoardController } from './job-board.controller.js';
import { JobBoard } from './job-board.js';

/** The board of jobs. Imported only where there is one: see {@link hasJobBoard}. */
@Module({
  controllers: [JobBoardController],
  providers: [
    {
      provide: JobBoard,
      inject: [Env, JobRelay],
      useFactory: (env: Env, { broker }: JobRelay) => {
        if (broker === undefined) {
          throw new Error('there is no board without REDIS_URL');
        }
        return JobBoard.load(env, `/${BOARD_PATH}/`, broker);
      },
    },
  ],
})
export class JobBoardModule {}

/** Whether the settings want a board, and Redis hands out jobs that it can show. */
export function hasJobBoard(env: Env): boolean {
  return env.get('JOBS_BOARD_PERMISSION') !== undefined && env.get('REDIS_URL') !== undefined;
}
