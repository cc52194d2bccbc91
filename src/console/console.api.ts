import { exampleOf } from '../platform/openapi/answer-fields.decorators.js';
import { apiRoutes } from '../platform/http/api-routes.js';
import { CallerDto, ConsoleSettingsDto } from './console.dto.js';

const CALLER_EXAMPLE = exampleOf(CallerDto, {
  permissions: [
    { permission: 'application-delivery', applications: ['loans', 'cards-*'] },
    { permission: 'process-read', applications: null },
  ],
});

export const ConsoleApi = apiRoutes([], {
  getConsoleSettings: {
    summary: 'Get the settings of the console',
    description:
      'Extension of the contract. What the console in the browser must know before anybody has signed in. Needs no token and tells no ' +
      'secret. 404 where there is no console (`CONSOLE=false`).',
    isPublic: true,
    answer: { type: ConsoleSettingsDto, description: 'The settings.' },
  },
  getCaller: {
    summary: 'Get the caller',
    description:
      'Extension of the contract. Who the caller is to this service, and what he may do. Any valid token may ask. Each operation decides ' +
      'for itself all the same.',
    answer: { type: CallerDto, example: CALLER_EXAMPLE, description: 'The caller.' },
  },
});
