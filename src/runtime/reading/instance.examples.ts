import { BPMN_EXAMPLE } from '../../delivery/builds/model/build.examples.js';
import { exampleOf } from '../../platform/openapi/answer-fields.decorators.js';
import { IncidentCountsDto } from '../model/incident-inbox.dto.js';
import { RunningProcessesDto } from '../model/running-processes.dto.js';
import { InstanceDiagramDto, InstanceTokenDto } from './instance.response.dto.js';
import { ProcessStatisticsDto } from './process-statistics.dto.js';
import { TaskDto } from './tasks.dto.js';
import { START_EXAMPLE } from '../starts/start.examples.js';

const TIME = '2026-01-31T10:20:30.123Z';
const TOKEN = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20';
const NODE = { nodeId: 1002, nodeName: 'Complete application', bpmnElementId: 'complete_application' };
const { tokens: _tokens, instanceMetadata, ...started } = START_EXAMPLE;

export const INSTANCE_SUMMARY_EXAMPLE = {
  ...started,
  parentProcessInstanceUuid: null,
  platform: 'web',
  startedBy: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
  startedAt: TIME,
  dateUpdated: TIME,
  endedAt: null,
  expiresAt: null,
  openIncidents: 0,
  instanceMetadata,
};

export const HISTORY_EVENT_EXAMPLE = {
  seq: 6,
  kind: 'NODE_ENTERED',
  timestamp: TIME,
  actor: 'jane.doe',
  requestId: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  tokenUuid: TOKEN,
  ...NODE,
  data: { visit: 2 },
};

export const INSTANCE_EXAMPLE = {
  ...INSTANCE_SUMMARY_EXAMPLE,
  openIncidents: 1,
  tokens: [exampleOf(InstanceTokenDto)],
  data: { client: { name: 'Ada Example' } },
  corrections: [{ members: ['client'], by: 'jane.doe', at: '2026-01-31T10:20:30.123Z' }],
  incidents: [
    {
      uuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
      source: 'NODE',
      type: 'GATEWAY_EVALUATION',
      message: 'No outgoing flow can be taken.',
      tokenUuid: TOKEN,
      ...NODE,
      actionSvcUuid: null,
      workflowRunId: null,
      childProcessInstanceUuid: null,
      requestId: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
      timestamp: TIME,
    },
  ],
  children: [],
  history: [HISTORY_EVENT_EXAMPLE],
  historyNext: 6,
};

export const TASK_PAGE_EXAMPLE = { tasks: [exampleOf(TaskDto, { lane: null })], next: null };
export const INSTANCE_PAGE_EXAMPLE = { instances: [INSTANCE_SUMMARY_EXAMPLE], next: null };
export const HISTORY_PAGE_EXAMPLE = { events: [HISTORY_EVENT_EXAMPLE], next: 6 };

export const OPERATION_EXAMPLE = { uuid: START_EXAMPLE.uuid, state: 'STARTED' };
export const RETRY_EXAMPLE = {
  ...OPERATION_EXAMPLE,
  retriedIncidents: INSTANCE_EXAMPLE.incidents.map(({ uuid }) => uuid),
};

export const PROGRESS_EXAMPLE = {
  event: 'history',
  id: HISTORY_EVENT_EXAMPLE.seq,
  data: HISTORY_EVENT_EXAMPLE,
};

export const DIAGRAM_EXAMPLE = exampleOf(InstanceDiagramDto, { bpmn: BPMN_EXAMPLE });

const PLACE = {
  applicationId: START_EXAMPLE.applicationId,
  processDefinitionName: START_EXAMPLE.processDefinitionName,
  bpmnElementId: NODE.bpmnElementId,
};
const FAILED_RUN = {
  code: 'CONDITION_FAILED',
  node: 'Score',
  message: 'No condition is true.',
  details: null,
};

export const INCIDENT_PAGE_EXAMPLE = {
  incidents: [
    {
      uuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
      state: 'OPEN',
      code: 'WORKFLOW',
      source: 'ACTION',
      message: `${FAILED_RUN.code}: ${FAILED_RUN.message}`,
      ...PLACE,
      buildId: START_EXAMPLE.buildId,
      processInstanceUuid: START_EXAMPLE.uuid,
      processInstanceState: 'STARTED',
      tokenUuid: TOKEN,
      actionSvcUuid: '7c012ba2-d101-55f2-b084-149d62e373ce',
      workflowRunId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
      workflowError: FAILED_RUN,
      requestId: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
      raisedAt: TIME,
      timestamp: TIME,
      closedAt: null,
    },
  ],
  next: null,
};
export const INCIDENT_COUNTS_EXAMPLE = exampleOf(IncidentCountsDto);

export const RUNNING_PROCESSES_EXAMPLE = exampleOf(RunningProcessesDto);

export const STATISTICS_EXAMPLE = exampleOf(ProcessStatisticsDto, { bpmn: BPMN_EXAMPLE });
