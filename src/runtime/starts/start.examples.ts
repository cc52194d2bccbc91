import { exampleOf } from '../../platform/openapi/answer-fields.decorators.js';
import { StartProcessResponseDto } from '../model/start.response.dto.js';

export const START_BODY_EXAMPLES = {
  data: {
    summary: 'Data of the process',
    value: { client: { name: 'Ada Example' } },
  },
  condition: {
    summary: 'The same, for a process with several start events',
    value: { startCondition: 'branch', client: { name: 'Ada Example' } },
  },
};

export const START_EXAMPLE = exampleOf(StartProcessResponseDto, {
  buildId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b01',
});

/** From the process of the sample application. */
export const INPUT_SCHEMA_EXAMPLE = {
  type: 'object',
  properties: {
    client: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, email: { type: 'string' } },
      required: ['name'],
    },
  },
  required: ['client'],
};

/** From the UI action of the sample application. */
export const BODY_SCHEMA_EXAMPLE = {
  type: 'object',
  properties: {
    application: {
      type: 'object',
      properties: {
        amount: { type: 'number', exclusiveMinimum: 0 },
        months: { type: 'integer', minimum: 1, maximum: 360 },
        income: { type: 'number', exclusiveMinimum: 0 },
        advice: { type: 'boolean', description: 'Whether an agent explains the offer.' },
      },
      required: ['amount', 'months', 'income'],
    },
  },
  required: ['application'],
};

export const PROCESS_PAGE_EXAMPLE = {
  processes: [
    {
      processDefinitionName: START_EXAMPLE.processDefinitionName,
      processDefinitionSvcUuid: START_EXAMPLE.processDefinitionSvcUuid,
      starts: [
        {
          startCondition: null,
          bpmnElementId: 'start',
          name: 'Client signs up',
          lane: null,
          mayStart: true,
        },
      ],
      inputSchema: INPUT_SCHEMA_EXAMPLE,
      searchable: ['client.name'],
      mayStart: true,
      refusal: null,
    },
    {
      processDefinitionName: 'loan_review',
      processDefinitionSvcUuid: '0d2f3c1e-8a4b-5c6d-9e7f-1a2b3c4d5e6f',
      starts: ['branch', 'head_office'].map((startCondition) => ({
        startCondition,
        bpmnElementId: `start_${startCondition}`,
        name: null,
        lane: 'Clerk',
        mayStart: false,
      })),
      inputSchema: null,
      mayStart: false,
      refusal: {
        status: 403,
        message: 'Insufficient permissions to act in this lane of the process',
      },
    },
  ],
  next: null,
};

const header = (description: string, example: string) => ({
  description,
  schema: { type: 'string' as const },
  example,
});

/** Response headers of this endpoint in the contract. */
export const START_RESPONSE_HEADERS = {
  'Access-Control-Allow-Credentials': header('Always true.', 'true'),
  'Access-Control-Allow-Headers': header(
    'Request headers that browsers may send.',
    'Content-Type, svc-platform',
  ),
  'Access-Control-Allow-Methods': header('Methods that browsers may use.', 'GET, PUT, POST, DELETE, PATCH'),
  'Access-Control-Allow-Origin': header(
    'Origin of the caller if CORS_ORIGINS lists it, else that of this service.',
    'https://app.example.com',
  ),
  'Strict-Transport-Security': header('RFC 6797.', 'max-age=31536000; includeSubDomains'),
  'Content-Encoding': header('br or gzip; absent if the caller accepts neither.', 'gzip'),
  Vary: header('Request headers that the response depends on.', 'Accept-Encoding'),
  'X-Content-Type-Options': header('Always nosniff.', 'nosniff'),
  'X-XSS-Protection': header('Always 0, because the filters of old browsers are harmful.', '0'),
};
