import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { RouteNotFoundError } from '../../../common/errors/request.errors.js';
import { isLimited } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { BoardQueryDto } from './board-query.dto.js';
import { JobBoard } from './job-board.js';

/** Where the board is. */
export const BOARD_PATH = 'api/platform/jobs';
/** Of the page: its own scripts, styles and images, and nothing else; nothing that stands in the page itself. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Jobs in Redis, as pages to look at (docs/operations.md, section "Redis"). It has GET alone, so nothing of it changes anything. Not in the
 * OpenAPI document: its answers are those of Bull Board.
 */
@ApiExcludeController()
@RequirePermission('JOBS_BOARD_PERMISSION')
@Controller(BOARD_PATH)
export class JobBoardController {
  constructor(
    private readonly board: JobBoard,
    private readonly env: Env,
  ) {}

  /**
   * @throws PermissionDeniedError for whoever has the permission for some applications only: jobs of all are shown
   * @throws RouteNotFoundError
   * @throws BoardSilentError
   */
  @Get(['', '*path'])
  async show(
    @CurrentPrincipal() principal: Principal,
    @Query() query: BoardQueryDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const permission = this.env.get('JOBS_BOARD_PERMISSION') ?? '';
    if (isLimited(principal, permission)) {
      throw new PermissionDeniedError(permission);
    }
    // A slash at the end makes another path of it, as everywhere.
    const isPath = !request.path.endsWith('/');
    const answer = isPath && (await this.board.answer([request.params['path'] ?? []].flat(), query));
    if (answer === false || answer === undefined) {
      throw new RouteNotFoundError();
    }
    if ('file' in answer) {
      // The service may be installed below a folder whose name begins with a dot.
      response.sendFile(answer.file, { cacheControl: false, dotfiles: 'allow' });
    } else if ('html' in answer) {
      response.setHeader('Content-Security-Policy', PAGE_POLICY);
      response.type('html').send(answer.html);
    } else {
      response.status(answer.status).json(answer.json);
    }
  }
}
