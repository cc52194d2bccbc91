import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { Env } from '../../platform/config/env.js';
import { JobHandlersService } from '../../jobs/queue/job-handlers.service.js';
import { CallHandler } from './call.handler.js';
import { PROCESS_JOB_HANDLERS, ProcessJobs } from './process-jobs.js';

const started = async (handlers: typeof PROCESS_JOB_HANDLERS) => {
  const module = await Test.createTestingModule({
    providers: [
      ProcessJobs,
      JobHandlersService,
      { provide: Env, useValue: {} },
      ...handlers.map((handler, index) => ({ provide: handler, useValue: { kind: `KIND_${index}` } })),
    ],
  }).compile();
  await module.init();
  return module.get(JobHandlersService).kinds;
};

describe('ProcessJobs', () => {
  it('registers the handler of every kind', async () => {
    expect(await started(PROCESS_JOB_HANDLERS)).toHaveLength(PROCESS_JOB_HANDLERS.length);
  });

  it('does not start when a handler is missing', async () => {
    const others = PROCESS_JOB_HANDLERS.filter((handler) => handler !== CallHandler);
    await expect(started(others)).rejects.toThrow('CallHandler');
  });
});
