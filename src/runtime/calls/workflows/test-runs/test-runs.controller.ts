import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Permission } from '../../../../platform/auth/permission.js';
import { CurrentPrincipal, RequirePermission } from '../../../../platform/auth/access.decorators.js';
import type { Principal } from '../../../../platform/user/principal.js';
import { CheckPathBeforeBody } from '../../../../platform/http/checked-path.js';
import { setLocation, withReplayHeader } from '../../../../platform/http/answer-headers.js';
import { RequestHeader } from '../../../../platform/http/request.decorators.js';
import { AuditAction } from '../../../../audit/model/audit.types.js';
import { Audited } from '../../../../audit/recording/audited.decorator.js';
import { StartedTestRunDto, TestRunParams } from './test-run.dto.js';
import { TestRunsService } from './test-runs.service.js';
import { TestRunsApi } from './test-runs.api.js';

/** Starts test runs of workflows (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.WorkflowTest)
@Controller('rtm/api/runtime/app/:appId/build/:buildId/workflow/:workflowName')
export class TestRunsController {
  constructor(private readonly runs: TestRunsService) {}

  @Post('test-run')
  @CheckPathBeforeBody(TestRunsService, TestRunParams, (runs, params) => runs.requireWorkflow(params))
  @Audited(AuditAction.WorkflowTest)
  @TestRunsApi.startTestRun
  async start(
    @CurrentPrincipal() principal: Principal,
    @Param() params: TestRunParams,
    @Body() body: Record<string, unknown>,
    @RequestHeader('Idempotency-Key') idempotencyKey: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StartedTestRunDto> {
    const started = await this.runs.start(principal, params, body, idempotencyKey);
    setLocation(response, 'rtm', 'api', 'runtime', 'workflow-run', started.workflowRunId);
    return withReplayHeader(response, started);
  }
}
