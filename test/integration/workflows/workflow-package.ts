import { v7 as uuid } from 'uuid';
import type { JsonObject, JsonValue } from '#engine/json';
import type { WorkflowRunRequest } from '../../../src/runtime/calls/workflows/model/workflow.types.js';
import { WorkflowRunsService } from '../../../src/runtime/calls/workflows/runs/workflow-runs.service.js';
import type { TestApp } from '../../support/app.js';

/** Runs a workflow as the job of a process does. */
export function runWorkflow(
  app: TestApp,
  buildId: string,
  workflow: string,
  {
    input = {},
    ...request
  }: Partial<Omit<WorkflowRunRequest, 'buildId' | 'workflow'>> & { input?: JsonObject } = {},
): Promise<JsonValue> {
  return app.nest.get(WorkflowRunsService).run({
    buildId,
    appId: null,
    payer: { appId: 'app', caller: null },
    workflow,
    input,
    processInstanceUuid: uuid(),
    parentProcessInstanceUuid: null,
    processTokenId: null,
    signal: new AbortController().signal,
    ...request,
  });
}

/** Returns the error that a promise rejects with. Throws if it does not reject. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}
