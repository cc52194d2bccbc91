import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../common/auth/permission.js';
import { CurrentPrincipal } from '../../common/auth/access.decorators.js';
import type { Principal } from '../../common/user/principal.js';
import { Env } from '../../config/env.js';
import { ConsoleApi } from './console.api.js';
import { CallerDto, toCaller } from './console.dto.js';

/** Tells callers who they are to this service (extension of the contract). */
@ApiTags('Console')
@ApiBearerAuth('bearer')
@Controller('rtm/api/me')
export class CallerController {
  constructor(private readonly env: Env) {}

  @Get()
  @ConsoleApi.getCaller
  read(@CurrentPrincipal() principal: Principal): CallerDto {
    return toCaller(principal, {
      discovery: this.env.get('DISCOVERY_PERMISSION') ?? null,
      uiAction: this.env.get('PROCESS_UI_ACTION_PERMISSION') ?? null,
      toolCall: this.env.get('TOOL_CALLS') ? Permission.ToolCall : null,
    });
  }
}
