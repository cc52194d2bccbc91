import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { Permission } from '../platform/auth/permission.js';
import { CurrentPrincipal, Public } from '../platform/auth/access.decorators.js';
import type { Principal } from '../platform/user/principal.js';
import { Env } from '../platform/config/env.js';
import { ConsoleApi } from './console.api.js';
import { CallerDto, toCaller, ConsoleSettingsDto } from './console.dto.js';
import { TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import { RouteNotFoundError } from '../platform/errors/request.errors.js';
import { SERVICE_VERSION } from '../platform/service-version.js';

/** Returns identity and permissions of the caller (extension of the contract). */
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

/** Returns the settings that the console needs before a user signs in. None is secret. */
@ApiTags('Console')
@Public()
@Controller('console/settings')
export class ConsoleSettingsController {
  constructor(
    private readonly env: Env,
    private readonly trusted: TrustedIssuer,
  ) {}

  /** @throws RouteNotFoundError when the console is disabled */
  @Get()
  @ConsoleApi.getConsoleSettings
  read(): ConsoleSettingsDto {
    if (!this.env.get('CONSOLE')) {
      throw new RouteNotFoundError();
    }
    return {
      issuer: this.trusted.rules.issuer,
      clientId: this.env.get('CONSOLE_OIDC_CLIENT_ID') ?? null,
      scope: this.env.get('CONSOLE_OIDC_SCOPE'),
      evaluation: this.env.isEvaluation,
      version: SERVICE_VERSION,
      documentation: '/docs',
    };
  }
}
