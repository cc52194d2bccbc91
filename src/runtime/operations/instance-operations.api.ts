import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { STOPPED } from '../model/stopped.response.dto.js';
import { InstanceOperationDto, InstanceRetryDto, RETRY_BODY } from './instance-operation.dto.js';
import { OPERATION_EXAMPLE, RETRY_EXAMPLE } from '../reading/instance.examples.js';

const DENIED = { 403: denialOf(Permission.ProcessAdministration) };
const NOT_FOUND = { 404: 'Process instance not found.' };
const NOT_RUNNING = { 409: 'The process instance is not running.' };

export const InstanceOperationsApi = apiRoutes([DENIED], {
  holdProcessInstance: {
    summary: 'Put a process instance on hold',
    description:
      'Extension of the contract. Until the instance is released, UI actions are rejected and background work waits.',
    answer: {
      type: InstanceOperationDto,
      example: { ...OPERATION_EXAMPLE, state: 'ONHOLD' },
      description: 'The instance is on hold.',
    },
    errors: [NOT_FOUND, NOT_RUNNING],
  },
  releaseProcessInstance: {
    summary: 'Release a process instance that is on hold',
    description: 'Extension of the contract. Background work that became due in the meantime runs now.',
    answer: {
      type: InstanceOperationDto,
      example: OPERATION_EXAMPLE,
      description: 'The instance continues.',
    },
    errors: [NOT_FOUND, { 409: 'The process instance is not on hold.' }],
  },
  terminateProcessInstance: {
    summary: 'Terminate a process instance',
    description:
      'Extension of the contract. Permanently ends an instance that is running, on hold or could not start and, in the background, the ' +
      'processes that it called. In a process that waits for it, this is an error, which becomes an incident without an error boundary event.',
    answer: {
      type: InstanceOperationDto,
      example: { ...OPERATION_EXAMPLE, state: 'TERMINATED' },
      description: 'The instance has ended.',
    },
    errors: [NOT_FOUND, NOT_RUNNING],
  },
  retryToken: {
    summary: 'Retry the failed work of a token',
    description:
      'Extension of the contract. Runs the failed background work of the token at its current node again and closes the incidents. Workflows ' +
      'and calls use the current process data, which `data` can correct first, in the same transaction (permission `process-data`). 409 if the ' +
      'token has no failed work, or a UI action failed, which can be executed again. Also 409 if the work fails again at once: the incident ' +
      'stays open, and `incident` gives the reason.',
    body: RETRY_BODY,
    answer: { type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'The work runs again.' },
    errors: [{ 404: 'Token not found for this process instance.' }, { 409: STOPPED }],
  },
  retryProcessInstance: {
    summary: 'Retry the failed work of a process instance as a whole',
    description:
      'Extension of the contract. Runs failed background work whose incidents name no token, such as a fire-and-forget call, again ' +
      'and closes the incidents. Calls of a running instance use the current process data. An instance that could not start (CREATED) ' +
      'starts again with its original data. `data` corrects the data first, in the same transaction (permission `process-data`). Use `retryToken` ' +
      'for the failed work of a token. 409 if there is no failed work, the state of the instance does not allow a retry, or the work fails again at ' +
      'once: the incident stays open, and `incident` gives the reason.',
    body: RETRY_BODY,
    answer: { type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'The work runs again.' },
    errors: [NOT_FOUND, { 409: STOPPED }],
  },
});
