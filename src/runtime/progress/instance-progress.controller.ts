import { Controller, Get, HttpStatus, Param, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiExtraModels, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { recheckCaller, type Principal } from '../../platform/user/principal.js';
import { CurrentPrincipal } from '../../platform/auth/access.decorators.js';
import { tokenExpiry } from '../../platform/auth/bearer-token.js';
import { LongLivedResponse } from '../../platform/rate-limit/principal-rate-limit.guard.js';
import { StopGate } from '../../platform/http/stop-gate.js';
import { RequestHeader } from '../../platform/http/request.decorators.js';
import { InstanceParams } from '../model/instance.params.dto.js';
import { InstanceProgressService } from './instance-progress.service.js';
import { setStreamHeaders, sinkOf } from './instance-stream.js';
import { ForReaders } from '../access/instance-access.service.js';
import {
  EndProgressEventDto,
  HistoryProgressEventDto,
  InstanceProgressEventDto,
} from './progress-event.dto.js';
import { InstanceProgressApi } from './instance-progress.api.js';
import { processLimits } from '../process.limits.js';

const MILLISECONDS = 1_000;
/** Time for clients that read nothing while the replica stops. */
const STOPPING_STALL_MS = 1_000;

/** Live progress of process instances (extension of the contract). */
@ApiTags('Process instances')
@ApiBearerAuth('bearer')
@ApiExtraModels(InstanceProgressEventDto, HistoryProgressEventDto, EndProgressEventDto)
@Controller('rtm/api/runtime/process-instance/:uuid')
export class InstanceProgressController {
  private readonly open = new Set<Response>();

  constructor(
    private readonly progress: InstanceProgressService,
    gate: StopGate,
  ) {
    gate.whenClosed(() => this.open.forEach((response) => response.setTimeout(STOPPING_STALL_MS)));
  }

  @Get('progress')
  @LongLivedResponse(true)
  @ForReaders()
  @InstanceProgressApi.followProcessInstance
  async follow(
    @CurrentPrincipal() principal: Principal,
    @Param() { uuid }: InstanceParams,
    @RequestHeader('Last-Event-ID') lastEventId: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      // Express routes HEAD requests here, and Node sends no headers before the end of an answer without a body.
      setStreamHeaders(response).end();
      return;
    }
    this.progress.requireFreeStream(principal);
    const call = {
      uuid,
      lastEventId,
      expiresAt: tokenExpiry(request),
      recheck: () => recheckCaller(request),
    };
    this.cutWhenStalled(response);
    const close = await this.progress.follow(principal, call, sinkOf(response));
    if (close === null) {
      // Stops clients from reconnecting (HTML, section 9.2.3).
      response.status(HttpStatus.NO_CONTENT).end();
      return;
    }
    response.once('close', close);
    if (response.destroyed) {
      close();
    }
  }

  /** Closes connections that stop reading, even after the end of the stream; they would hold memory and a socket forever. */
  private cutWhenStalled(response: Response): void {
    this.open.add(response);
    response.once('close', () => this.open.delete(response));
    // Node counts any bytes sent in the meantime as activity.
    response.setTimeout(processLimits.stallSeconds * MILLISECONDS, () => {
      if (response.writableLength > 0) {
        response.destroy();
      }
    });
  }
}
