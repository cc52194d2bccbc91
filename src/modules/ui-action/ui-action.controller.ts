import { Body, Controller, HttpCode, HttpStatus, Param, Post, UseFilters, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ConfiguredPermission } from '../../common/auth/configured-permission.decorator.js';
import { ConfiguredPermissionGuard } from '../../common/auth/configured-permission.guard.js';
import { CurrentPrincipal } from '../../common/auth/principal.decorator.js';
import type { Principal } from '../../common/auth/principal.js';
import { ApiErrors } from '../../common/errors/api-errors.decorator.js';
import { RequestHeader } from '../../common/http/request-header.decorator.js';
import { ApiIdempotencyKey } from '../process-runtime/dto/idempotency-key.decorator.js';
import { UiActionExecutionService } from '../process-runtime/ui-action-execution.service.js';
import { UI_ACTION_BODY_EXAMPLES, UI_ACTION_EXAMPLES } from './dto/ui-action.examples.js';
import { UiActionParams } from './dto/ui-action.params.dto.js';
import { UiActionResponseDto } from './dto/ui-action.response.dto.js';
import { UiActionPathFilter } from './ui-action-path.filter.js';

/** Executes UI actions (interface contract, endpoint 8). */
@ApiTags('Processes')
@ApiBearerAuth('bearer')
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
      'back: `tokenUuid` is then a new token. Any valid token will do, unless the deployment asks for a permission ' +
      '(`PROCESS_UI_ACTION_PERMISSION`) or the node stands in a lane that names some. 500 when the process cannot go on behind the ' +
      'action: nothing has changed then, and an incident tells why.',
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
    400,
    { 403: 'Insufficient permissions to act in this lane of the process' },
    { 404: 'Token not found for this process instance.' },
    { 409: 'The UI action is not available where the token stands.' },
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
