import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { jsonSize, type JsonObject } from '../../../common/json.js';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { SHARDS } from '../../../database/shards.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import { BuildReadsService } from '../../builds/contents/build-reads.service.js';
import { RunStore } from '../journal/run-store.js';
import { TestRunQueue } from './test-run-queue.js';
import { NO_PROCESS, WorkflowRunOrigin, type TestRunKey } from '../model/workflow.types.js';

/** Starts workflows by hand, without a process, to try them out. */
@Injectable()
export class TestRunsService {
  constructor(
    private readonly builds: BuildReadsService,
    private readonly definitions: BuildDefinitionsService,
    private readonly store: RunStore,
    private readonly queue: TestRunQueue,
    private readonly database: Database,
    private readonly env: Env,
  ) {}

  /**
   * Makes sure that the application has this build, and the build this workflow of its own.
   * @returns the version that the build was made of
   * @throws BuildNotFoundError, WorkflowNotFoundError
   */
  async demandPath({ appId, buildId, workflow }: TestRunKey): Promise<AppVersionKey> {
    const { appVersionId } = await this.builds.summary(appId, buildId);
    await this.definitions.workflow(buildId, appId, workflow);
    return { appId, appVersionId };
  }

  /**
   * Begins a run and leaves it to a job. The workflow itself checks the input, and its run names the mistakes.
   * @returns id of the run
   * @throws BuildNotFoundError, WorkflowNotFoundError
   * @throws ValidationFailedError when the input is larger than the data of a run may be
   */
  async start(principal: Principal, key: TestRunKey, input: JsonObject): Promise<string> {
    const version = await this.demandPath(key);
    const maxBytes = Math.min(this.env.get('WORKFLOW_MAX_DATA_BYTES'), this.queue.maxInputBytes);
    if (jsonSize(input) > maxBytes) {
      const rule = `must have at most ${maxBytes} bytes as JSON`;
      throw new ValidationFailedError([{ field: '(body)', rule }]);
    }
    const { appId, buildId, workflow } = key;
    const runKey = uuid();
    const jobId = await this.queue.nextId();
    const run = {
      runKey,
      appId,
      buildId,
      workflow,
      processInstanceUuid: NO_PROCESS,
      // Where its job is.
      shard: jobId % SHARDS,
      origin: WorkflowRunOrigin.Test,
    };
    const runId = await this.database.write(async (manager) => {
      const id = await this.store.open(manager, { ...run, processTokenId: null, parentRunId: null });
      const payload = { runKey, appId, buildId, workflow, input, caller: callerHash(principal) };
      await this.queue.add(manager, jobId, payload);
      await this.queue.record(manager, principal, { ...key, ...version }, { id, shard: run.shard });
      return id;
    });
    this.queue.wake();
    return runId;
  }
}
