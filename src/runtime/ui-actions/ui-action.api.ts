import { ANY_OBJECT, apiRoutes } from '../../platform/http/api-routes.js';
import { REPLAY_HEADER } from '../../platform/http/answer-headers.js';
import { VISIT_IF_MATCH } from '../../platform/http/conditional-requests.js';
import { BACK_HEADER, UiActionResponseDto } from './ui-action.dto.js';
import { IDEMPOTENCY_KEY } from '../../idempotency/idempotency-key.dto.js';
import { ProcessErrorResponseDto, STOPPED } from '../model/stopped.response.dto.js';

const UI_ACTION_BODY_EXAMPLES = {
  form: { summary: 'Data of a form', value: { application: { amount: 20000, months: 48, income: 5200 } } },
  nothing: { summary: 'Nothing but the decision', value: {} },
};

const TOKEN = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20';

const UI_ACTION_EXAMPLES = {
  plain: {
    summary: 'The token has moved on',
    value: {
      tokenUuid: TOKEN,
      currentNodeId: 1003,
      templatesSequence: null,
      backAction: false,
      resetToken: false,
    },
  },
  back: {
    summary: 'A new token is at the earlier node',
    value: {
      tokenUuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b21',
      currentNodeId: 1002,
      templatesSequence: null,
      backAction: true,
      resetToken: true,
    },
  },
};

export const UiActionApi = apiRoutes([], {
  executeUiAction: {
    summary: 'Execute a UI action',
    description:
      'Executes the manual action that the UI action is bound to, and moves the token as far as possible. Get the ids of the path from ' +
      '`getProcessInstance`: each of its `tokens` lists the `uiActions` that this caller can execute now, with `svcUuid` and the ' +
      '`bodySchema` of the body. The response of a start has the first ids of instance and tokens. The body is merged ' +
      'into the process data as far as the `keys` of the action allow. An action of an earlier node can take the token back if it ' +
      'allows that: `tokenUuid` is then a new token. The caller who started the instance may execute it or, if the lane requires ' +
      'permissions, callers with one of them; others get 404 (`PROCESS_UI_ACTION_ACCESS`, `PROCESS_UI_ACTION_PERMISSION`). ' +
      'An equal call that is received before the first one is committed is not executed again and gets the first answer; so does one ' +
      'within a second that would go back. `If-Match` with the `visit` of the token identifies the execution exactly. If the process ' +
      'cannot continue after the action, the response is 409, or 400 if data is missing; nothing has changed, and `incident` gives the reason.',
    headers: [IDEMPOTENCY_KEY, VISIT_IF_MATCH, BACK_HEADER],
    body: {
      required: false,
      description: 'Data for the process that matches the `bodySchema` of the UI action; optional.',
      schema: ANY_OBJECT,
      examples: UI_ACTION_BODY_EXAMPLES,
    },
    answer: {
      type: UiActionResponseDto,
      headers: REPLAY_HEADER,
      examples: UI_ACTION_EXAMPLES,
      description: 'The token and its current node.',
    },
    errors: [
      {
        400: {
          message: 'Request validation failed.',
          details: 'tags: must be of type array',
          type: ProcessErrorResponseDto,
        },
      },
      { 403: 'Insufficient permissions to act in this lane of the process' },
      { 404: 'Token not found for this process instance.' },
      { 409: STOPPED },
      412,
    ],
  },
});
