import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { BPMN_EXAMPLE } from '../../delivery/builds/model/build.examples.js';
import {
  DIAGRAM_EXAMPLE,
  HISTORY_PAGE_EXAMPLE,
  INSTANCE_EXAMPLE,
  INSTANCE_PAGE_EXAMPLE,
  RUNNING_PROCESSES_EXAMPLE,
} from './instance.examples.js';
import { InstanceDiagramDto, InstancePageDto, InstanceResponseDto } from './instance.response.dto.js';
import { HistoryPageDto } from './instance-history.dto.js';
import { RunningProcessesDto } from '../model/running-processes.dto.js';

const READING = [{ 403: denialOf(Permission.ProcessRead) }, { 404: 'Process instance not found.' }];

export const ProcessInstancesApi = apiRoutes([], {
  listProcessInstances: {
    summary: 'List process instances',
    description:
      'Extension of the contract. Newest first, without process data. Follow `next` until it is null. Callers without the permission ' +
      '`process-read` see only instances that they started.',
    answer: { type: InstancePageDto, example: INSTANCE_PAGE_EXAMPLE, description: 'A page of instances.' },
  },
  getProcessInstance: {
    summary: 'Get a process instance',
    description:
      'Extension of the contract. State, tokens with the UI actions that the caller can execute now (`uiActions`, for `executeUiAction`), ' +
      'process data, open incidents, called processes and the newest events. Requires the permission `process-read`, unless the caller started the instance.',
    answer: { type: InstanceResponseDto, example: INSTANCE_EXAMPLE, description: 'The instance.' },
    errors: READING,
  },
  getProcessInstanceHistory: {
    summary: 'Read the audit trail of a process instance',
    description:
      'Extension of the contract. Every step of the instance, with its request and user. Events are numbered without gaps and never ' +
      'change. The same callers may read it as the instance.',
    answer: { type: HistoryPageDto, example: HISTORY_PAGE_EXAMPLE, description: 'A page of events.' },
    errors: READING,
  },
  getProcessInstanceBpmn: {
    summary: 'Get the process of an instance as BPMN',
    description: 'Extension of the contract. The BPMN 2.0 file that the process comes from, unchanged.',
    answer: {
      content: { 'application/xml': { schema: { type: 'string' }, example: BPMN_EXAMPLE } },
      description: 'The file as it was delivered.',
    },
    errors: READING,
  },
  getProcessInstanceDiagram: {
    summary: 'Get the process of an instance as BPMN with the positions of its tokens',
    description: 'Extension of the contract. The BPMN file and the elements to highlight in a viewer.',
    answer: { type: InstanceDiagramDto, example: DIAGRAM_EXAMPLE, description: 'File and positions.' },
    errors: READING,
  },
});

export const RunningProcessesApi = apiRoutes([{ 403: denialOf(Permission.ProcessRead) }], {
  countRunningProcesses: {
    summary: 'Count running process instances by process',
    description:
      'Extension of the contract. Number of running instances (state STARTED) for each application and process, highest first.',
    answer: { type: RunningProcessesDto, example: RUNNING_PROCESSES_EXAMPLE, description: 'The counts.' },
  },
});
