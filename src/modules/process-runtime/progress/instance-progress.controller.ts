import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { recheckCaller } from '../../../common/auth/caller-recheck.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { tokenExpiry } from '../../../common/auth/token-expiry.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { Env } from '../../../config/env.js';
import { StopGate } from '../../../common/http/stop-gate.js';
import { RequestHeader } from '../../../common/http/request-header.decorator.js';
import { PROGRESS_EXAMPLE } from '../reading/instance.examples.js';
import { InstanceParams } from '../reading/instance.params.dto.js';
import { InstanceProgressService } from './instance-progress.service.js';
import type { ProgressSink } from './instance-progress.types.js';
import { InstanceReaderGuard } from '../access/instance-reader.guard.js';

const EVENT_STREAM = 'text/event-stream';
const MILLISECONDS = 1_000;
/** A replica that stops has no time for clients that take nothing. */
const STOPPING_STALL_MS = 1_000;

/** Live progress of process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiBearerAuth('bearer')
@Controller('rtm/api/runtime/process-instance/:uuid')
export class InstanceProgressController {
  private readonly open = new Set<Response>();

  constructor(
    private readonly progress: InstanceProgressService,
    private readonly env: Env,
    gate: StopGate,
  ) {
    gate.whenClosed(() => this.open.forEach((response) => response.setTimeout(STOPPING_STALL_MS)));
  }

  @Get('progress')
  @UseGuards(InstanceReaderGuard)
  @ApiOperation({
    operationId: 'followProcessInstance',
    summary: 'Follow a process instance',
    description:
      'Extension of the contract. Server-sent events: `instance` with the present state, as the instance itself is answered, then ' +
      '`history` for each event of the audit trail, and `end` when the instance ends. The `id` is the number of the event; with it ' +
      'as `Last-Event-ID` the stream goes on behind it, without a new `instance`. The stream ends with the token of the caller, ' +
      'when the caller may no longer read the instance, and after `PROCESS_PROGRESS_MAX_SECONDS`; who takes nothing for ' +
      '`PROCESS_PROGRESS_STALL_SECONDS` is cut off. Connections are limited, of one caller and in all (429).',
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
    if (request.method === 'HEAD') {
      // The framework brings it here too, and Node would send nothing of an answer without a body before its end.
      describeStream(response).end();
      return;
    }
    this.progress.demandRoom(principal);
    const call = {
      uuid,
      lastEventId,
      expiresAt: tokenExpiry(request),
      recheck: () => recheckCaller(request),
    };
    this.cutWhenStalled(response);
    const leave = await this.progress.follow(principal, call, sinkOf(response));
    response.once('close', leave);
    if (response.destroyed) {
      leave();
    }
  }

  /** Whoever takes nothing of what was sent would hold it, and the connection, for ever: even behind its end. */
  private cutWhenStalled(response: Response): void {
    this.open.add(response);
    response.once('close', () => this.open.delete(response));
    // Node takes any bytes that went out meanwhile for activity.
    response.setTimeout(this.env.get('PROCESS_PROGRESS_STALL_SECONDS') * MILLISECONDS, () => {
      if (response.writableLength > 0) {
        response.destroy();
      }
    });
  }
}

function describeStream(response: Response): Response {
  response.status(200).setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
  // Whoever compresses or buffers would keep events back.
  return response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
}

function sinkOf(response: Response): ProgressSink {
  return {
    write: (text) => {
      if (!response.headersSent) {
        describeStream(response);
      }
      return response.write(text) || response.destroyed ? Promise.resolve() : roomIn(response);
    },
    end: () => response.end(),
  };
}

function roomIn(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
