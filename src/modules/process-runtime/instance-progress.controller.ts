import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentPrincipal } from '../../common/auth/principal.decorator.js';
import type { Principal } from '../../common/auth/principal.js';
import { tokenExpiry } from '../../common/auth/token-expiry.js';
import { ApiErrors } from '../../common/errors/api-errors.decorator.js';
import { RequestHeader } from '../../common/http/request-header.decorator.js';
import { PROGRESS_EXAMPLE } from './dto/instance.examples.js';
import { InstanceParams } from './dto/instance.params.dto.js';
import { InstanceProgressService } from './instance-progress.service.js';
import type { ProgressSink } from './instance-progress.types.js';
import { InstanceReaderGuard } from './instance-reader.guard.js';

const EVENT_STREAM = 'text/event-stream';

/** Live progress of process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/process-instance/:uuid')
export class InstanceProgressController {
  constructor(private readonly progress: InstanceProgressService) {}

  @Get('progress')
  @UseGuards(InstanceReaderGuard)
  @ApiOperation({
    operationId: 'followProcessInstance',
    summary: 'Follow a process instance',
    description:
      'Extension of the contract. Server-sent events: `instance` with the present state, as the instance itself is answered, then ' +
      '`history` for each event of the audit trail, and `end` when the instance ends. The `id` is the number of the event; with it ' +
      'as `Last-Event-ID` the stream goes on behind it, without a new `instance`. The stream ends with the token of the caller ' +
      'and after `PROCESS_PROGRESS_MAX_SECONDS`; connections are limited, of one caller and in all (429).',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Number of the last event that the caller knows; anything that is no number is ignored.',
    schema: { type: 'string', example: '6' },
  })
  @ApiOkResponse({
    content: { [EVENT_STREAM]: { schema: { type: 'string' }, example: PROGRESS_EXAMPLE } },
    description: 'Events, until the stream ends.',
  })
  @ApiErrors(
    400,
    { 403: 'Insufficient permissions to read process data' },
    { 404: 'Process instance not found.' },
  )
  async follow(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
    @RequestHeader('Last-Event-ID') lastEventId: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.progress.demandRoom(principal);
    const call = { uuid, lastEventId, expiresAt: tokenExpiry(request) };
    const leave = await this.progress.follow(principal, call, sinkOf(response));
    response.once('close', leave);
    if (response.destroyed) {
      leave();
    }
  }
}

function sinkOf(response: Response): ProgressSink {
  return {
    write: (text) => {
      if (!response.headersSent) {
        response.status(200).setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
        // Whoever compresses or buffers would keep events back.
        response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
      }
      return response.write(text) || response.destroyed ? Promise.resolve() : roomIn(response);
    },
    end: () => response.end(),
  };
}

function roomIn(response: Response): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}
