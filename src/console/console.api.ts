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
      'Extension of the contract. Settings that the console in the browser needs before a user signs in. Requires no token and ' +
      'contains no secrets. 404 without a console (`CONSOLE=false`).',
    isPublic: true,
    answer: { type: ConsoleSettingsDto, description: 'The settings.' },
  },
  getCaller: {
    summary: 'Get the caller',
    description:
      'Extension of the contract. The identity and permissions of the caller. Any valid token is sufficient. Each operation still ' +
      'checks permissions itself.',
    answer: { type: CallerDto, example: CALLER_EXAMPLE, description: 'The caller.' },
  },
});
