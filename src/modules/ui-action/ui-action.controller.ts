import { Body, Controller, HttpCode, HttpStatus, Param, Post, UseFilters, UseGuards } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ConfiguredPermission } from '../../common/auth/configured-permission.decorator.js';
import { ConfiguredPermissionGuard } from '../../common/auth/configured-permission.guard.js';
import { CurrentPrincipal } from '../../common/auth/principal.decorator.js';
import type { Principal } from '../../common/user/principal.js';
import { ApiErrors } from '../../common/http/api-errors.decorator.js';
import { RequestHeader } from '../../common/http/request-header.decorator.js';
import { ProcessErrorResponseDto, STOPPED } from '../process-runtime/model/stopped.response.dto.js';
import { ApiIdempotencyKey } from '../process-runtime/model/idempotency-key.decorator.js';
import { UiActionExecutionService } from '../process-runtime/ui-actions/ui-action-execution.service.js';
import { UI_ACTION_BODY_EXAMPLES, UI_ACTION_EXAMPLES } from './ui-action.examples.js';
import { UiActionParams } from './ui-action.params.dto.js';
import { UiActionResponseDto } from './ui-action.response.dto.js';
import { UiActionPathFilter } from './ui-action-path.filter.js';

/** Executes UI actions (docs/contract.md, section 4.2). */
@ApiTags('Processes')
@ApiBearerAuth('bearer')
@ApiExtraModels(ProcessErrorResponseDto)
@Controller('onboarding/api/runtime/process/:processUuid/token/:tokenUuid/ui-action')
export class UiActionController {
  constructor(private readonly actions: UiActionExecutionService) {}

  @Post(':uiActionSvcUuid/context/main/execute')
  @HttpCode(HttpStatus.OK)
  @ConfiguredPermission('PROCESS_UI_ACTION_PERMISSION')
  @UseGuards(ConfiguredPermissionGuard)
  @UseFilters(UiActionPathFilter)
  @ApiOperation({
    operationId: 'executeUiAction',
    summary: 'Execute a UI action',
    description:
      'Executes the manual action that the UI action is bound to, and lets the token go on as far as it can. The body is merged ' +
      'into process data as far as the `keys` of the action allow. An action of an earlier node that allows it brings the token ' +
      'back: `tokenUuid` is then a new token. Who started the instance may execute it, or who has a ' +
      'permission of the lane where that names some; all others get 404 (`PROCESS_UI_ACTION_ACCESS`, `PROCESS_UI_ACTION_PERMISSION`). ' +
      'The same call again within `PROCESS_REPEAT_WINDOW_MS` is a double click, executed once and no way back: it gets the first answer. 409, ' +
      'or 400 where data is missing, when the process cannot go on behind the action: nothing has changed then, and `incident` tells why.',
  })
  @ApiIdempotencyKey()
  @ApiBody({
    required: false,
    description: 'Data for the process, or nothing.',
    schema: { type: 'object', additionalProperties: true },
    examples: UI_ACTION_BODY_EXAMPLES,
  })
  @ApiOkResponse({
    type: UiActionResponseDto,
    examples: UI_ACTION_EXAMPLES,
    description: 'Where the token stands now.',
  })
  @ApiErrors(
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
  )
  async execute(
    @CurrentPrincipal() principal: Principal,
    @Param() params: UiActionParams,
    @Body() body: Record<string, unknown>,
    @RequestHeader('Idempotency-Key') idempotencyKey: string | undefined,
  ): Promise<UiActionResponseDto> {
    return this.actions.execute(principal, params, body, idempotencyKey);
  }
}
