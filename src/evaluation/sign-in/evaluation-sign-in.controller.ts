import { Body, Controller, Get, HttpCode, HttpStatus, Post, Req } from '@nestjs/common';
import { ApiPropertyOptional, ApiExcludeController } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsString } from 'class-validator';
import type { Request } from 'express';
import { ForbiddenError } from '../../platform/errors/domain.error.js';
import { IsDisplayName } from '../../platform/validation/patterns.decorators.js';
import { Public } from '../../platform/auth/access.decorators.js';
import { RouteNotFoundError } from '../../platform/errors/request.errors.js';
import { Env } from '../../platform/config/env.js';
import { EvaluationIssuer } from '../evaluation-issuer.js';

/** The caller is not a page of this service in a browser of this machine: 403. */
class ForeignPageError extends ForbiddenError {
  readonly code = 'FOREIGN_PAGE';
  constructor() {
    super('Only the console of this service may sign in here.');
  }
}

const SUBJECT_MAX_LENGTH = 100;
const PERMISSIONS_MAX = 100;

class SignInDto {
  @IsDisplayName(SUBJECT_MAX_LENGTH, { description: 'Subject of the token.' })
  subject: string;

  @ApiPropertyOptional({ type: [String], description: 'Names of permissions. Default: all.' })
  @IsArray({ message: 'must be a list' })
  @ArrayMaxSize(PERMISSIONS_MAX, { message: `must have at most ${PERMISSIONS_MAX} items` })
  @IsString({ each: true, message: 'must be strings' })
  @IsOptional()
  permissions?: string[];
}

/** Lifetime of tokens. Short, because the console gets another one with the same call. */
const TTL_SECONDS = 900;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/**
 * Issues tokens to the console of evaluation mode, for any subject. The service listens on loopback only. Pages of other sites in a browser
 * of this machine are rejected, even if they use our address or a host name that resolves to it (DNS rebinding).
 */
@ApiExcludeController()
@Public()
@Controller('console/evaluation/sign-in')
export class EvaluationSignInController {
  constructor(
    private readonly issuer: EvaluationIssuer,
    private readonly env: Env,
  ) {}

  /** @throws ForeignPageError */
  @Get()
  permissions(@Req() request: Request): { permissions: readonly string[] } {
    this.requireConsole(request);
    return { permissions: this.issuer.permissions };
  }

  /**
   * @throws ForeignPageError
   * @throws PermissionNameError
   */
  @Post()
  @HttpCode(HttpStatus.OK)
  async signIn(
    @Req() request: Request,
    @Body() { subject, permissions }: SignInDto,
  ): Promise<{ accessToken: string; expiresIn: number }> {
    this.requireConsole(request);
    if (request.headers.origin !== `http://${request.headers.host}`) {
      throw new ForeignPageError();
    }
    const order = { subject, permissions: permissions ?? ('all' as const), ttlSeconds: TTL_SECONDS };
    return { accessToken: await this.issuer.mint(order), expiresIn: TTL_SECONDS };
  }

  private requireConsole({ headers }: Request): void {
    if (!this.env.get('CONSOLE')) {
      throw new RouteNotFoundError();
    }
    const site = headers['sec-fetch-site'];
    if (!LOOPBACK.test(headers.host ?? '') || (site !== undefined && site !== 'same-origin')) {
      throw new ForeignPageError();
    }
  }
}
