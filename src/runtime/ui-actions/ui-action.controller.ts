import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal, RequirePermission } from '../../platform/auth/access.decorators.js';
import type { Principal } from '../../platform/user/principal.js';
import { PreferPathErrors } from '../../platform/http/checked-path.js';
import { withReplayHeader } from '../../platform/http/answer-headers.js';
import { RequestHeaders } from '../../platform/http/request.decorators.js';
import { UiActionExecutionService, type UiActionHeaders } from './ui-action-execution.service.js';
import { UiActionParams, UiActionResponseDto } from './ui-action.dto.js';
import { UiActionApi } from './ui-action.api.js';

/** Executes UI actions (docs/contract.md, section 4.2). */
@ApiTags('Processes')
@RequirePermission('PROCESS_UI_ACTION_PERMISSION')
@Controller('onboarding/api/runtime/process/:processUuid/token/:tokenUuid/ui-action')
export class UiActionController {
  constructor(private readonly actions: UiActionExecutionService) {}

  @Post(':uiActionSvcUuid/context/main/execute')
  @PreferPathErrors(UiActionExecutionService, UiActionParams, (actions, params, principal) =>
    actions.checkPath(principal, params),
  )
  @UiActionApi.executeUiAction
  async execute(
    @CurrentPrincipal() principal: Principal,
    @Param() params: UiActionParams,
    @Body() body: Record<string, unknown>,
    @RequestHeaders({ idempotencyKey: 'Idempotency-Key', ifMatch: 'If-Match', back: 'svc-back' })
    headers: UiActionHeaders,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UiActionResponseDto> {
    return withReplayHeader(response, await this.actions.execute(principal, params, body, headers));
  }
}
