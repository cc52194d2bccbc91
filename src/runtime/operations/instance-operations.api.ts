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
      'Extension of the contract. UI actions are refused until it is released, and background work that comes due waits.',
    answer: {
      type: InstanceOperationDto,
      example: { ...OPERATION_EXAMPLE, state: 'ONHOLD' },
      description: 'It is on hold.',
    },
    errors: [NOT_FOUND, NOT_RUNNING],
  },
  releaseProcessInstance: {
    summary: 'Release a process instance that is on hold',
    description: 'Extension of the contract. What came due meanwhile runs now.',
    answer: { type: InstanceOperationDto, example: OPERATION_EXAMPLE, description: 'It goes on.' },
    errors: [NOT_FOUND, { 409: 'The process instance is not on hold.' }],
  },
  terminateProcessInstance: {
    summary: 'Terminate a process instance',
    description:
      'Extension of the contract. Ends an instance that is running, on hold or could not start for good, and in the background the processes that ' +
      'it started. A process that waits for it takes this as an error: without an error boundary event there is an incident.',
    answer: {
      type: InstanceOperationDto,
      example: { ...OPERATION_EXAMPLE, state: 'TERMINATED' },
      description: 'It has ended.',
    },
    errors: [NOT_FOUND, NOT_RUNNING],
  },
  retryToken: {
    summary: 'Retry what stopped a token',
    description:
      'Extension of the contract. Runs the background work again whose failure stopped the token where it stands now, workflows and ' +
      'calls with the process data of now, and closes the incidents. `data` corrects process data before that, in the same transaction, with the permission `process-data`. 409 when nothing stopped it, or a UI action did: that can ' +
      'be executed again. 409 also when it stops again at once: the incident stays open, and `incident` tells why.',
    body: RETRY_BODY,
    answer: { type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'It is under way.' },
    errors: [{ 404: 'Token not found for this process instance.' }, { 409: STOPPED }],
  },
  retryProcessInstance: {
    summary: 'Retry what stopped a process instance as a whole',
    description:
      'Extension of the contract. Runs the background work again whose incidents name no token, such as a call that nobody waits ' +
      'for, and closes them; calls are made with the process data of now while the instance is running. One that could not start ' +
      '(CREATED) starts again, with the data that it was given. `data` corrects process data before that, in the same transaction, with the permission `process-data`. What stopped a token is retried with that token. 409 when nothing stopped, or the state of the instance does not allow it, or it stops again ' +
      'at once: the incident stays open, and `incident` tells why.',
    body: RETRY_BODY,
    answer: { type: InstanceRetryDto, example: RETRY_EXAMPLE, description: 'It is under way.' },
    errors: [NOT_FOUND, { 409: STOPPED }],
  },
});
