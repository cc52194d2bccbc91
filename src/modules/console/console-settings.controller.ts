import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../common/auth/access.decorators.js';
import { TrustedIssuer } from '../../common/auth/trusted-issuer.js';
import { RouteNotFoundError } from '../../common/errors/request.errors.js';
import { SERVICE_VERSION } from '../../common/service-version.js';
import { Env } from '../../config/env.js';
import { ConsoleApi } from './console.api.js';
import { ConsoleSettingsDto } from './console.dto.js';

/** What the console must know before anybody has signed in. Nothing of it is secret. */
@ApiTags('Console')
@Public()
@Controller('console/settings')
export class ConsoleSettingsController {
  constructor(
    private readonly env: Env,
    private readonly trusted: TrustedIssuer,
  ) {}

  /** @throws RouteNotFoundError where there is no console */
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
