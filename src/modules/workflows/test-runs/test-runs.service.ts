import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { jsonSize, type JsonObject } from '../../../common/json.js';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { SHARDS, shardOfHash } from '../../../database/shards.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import { BuildWithdrawnError } from '../../builds/model/builds.errors.js';
import { BuildStatus } from '../../builds/model/builds.types.js';
import { BuildReadsService } from '../../builds/contents/build-reads.service.js';
import { repeatKey, type RepeatKey } from '../../repeats/idempotency-key.dto.js';
import { RepeatsService } from '../../repeats/repeats.service.js';
import { RunStore } from '../journal/run-store.js';
import { TestRunQueue } from './test-run-queue.js';
import { NO_PROCESS, WorkflowRunOrigin, type TestRunKey } from '../model/workflow.types.js';

/** A run that was begun. */
export interface StartedTestRun {
  workflowRunId: string;
}

interface TestRunRequest {
  principal: Principal;
  key: TestRunKey & AppVersionKey;
  input: JsonObject;
}

/** Starts workflows by hand, without a process, to try them out. */
@Injectable()
export class TestRunsService {
  constructor(
    private readonly builds: BuildReadsService,
    private readonly definitions: BuildDefinitionsService,
    private readonly store: RunStore,
    private readonly queue: TestRunQueue,
    private readonly repeats: RepeatsService,
    private readonly database: Database,
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
   * Begins a run and leaves it to a job. The workflow itself checks the input, and its run names the mistakes. The same call with the same
   * Idempotency-Key begins one run, and gets its id.
   * @throws BuildNotFoundError, WorkflowNotFoundError
   * @throws ValidationFailedError when the input is larger than the data of a run may be, or the key is none
   * @throws IdempotencyKeyReusedError
   */
  async start(
    principal: Principal,
    key: TestRunKey,
    input: JsonObject,
    idempotencyKey: string | undefined,
  ): Promise<StartedTestRun> {
    const version = await this.demandPath(key);
    const maxBytes = this.queue.maxInputBytes;
    if (jsonSize(input) > maxBytes) {
      const rule = `must have at most ${maxBytes} bytes as JSON`;
      throw new ValidationFailedError([{ field: '(body)', rule }]);
    }
    const path = ['test-run', key.appId, key.buildId, key.workflow];
    const repeat = repeatKey(principal, path, idempotencyKey, input);
    const request = { principal, key: { ...key, ...version }, input };
    return repeat === undefined
      ? this.begin(request, undefined)
      : this.repeats.once(repeat, () => this.begin(request, repeat));
  }

  private async begin(
    { principal, key, input }: TestRunRequest,
    repeat: RepeatKey | undefined,
  ): Promise<StartedTestRun> {
    const { appId, buildId, workflow } = key;
    if ((await this.builds.summary(appId, buildId)).status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
    const runKey = uuid();
    const jobId = await this.queue.nextId();
    // The unique key of the answer holds within one shard, so the run is where that is.
    const shard = repeat === undefined ? jobId % SHARDS : shardOfHash(repeat.keyHash);
    const run = { runKey, appId, buildId, workflow, shard, origin: WorkflowRunOrigin.Test };
    const owner = { processInstanceUuid: NO_PROCESS, processTokenId: null, parentRunId: null };
    const row = this.store.rowOf({ ...run, ...owner });
    const started = { workflowRunId: row.id };
    await this.database.write(async (manager) => {
      if (repeat !== undefined) {
        await this.repeats.keep(manager, repeat, { shard, answer: started, now: row.startedAt });
      }
      await this.store.open(manager, row);
      const payload = { runKey, appId, buildId, workflow, input, caller: callerHash(principal) };
      await this.queue.add(manager, { id: jobId, shard }, payload);
      await this.queue.record(manager, principal, key, { id: row.id, shard });
    });
    this.queue.wake();
    return started;
  }
}
