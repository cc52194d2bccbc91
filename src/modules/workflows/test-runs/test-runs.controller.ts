import { Body, Controller, HttpCode, HttpStatus, Param, Post, UseGuards } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Permission } from '../../../common/auth/permission.js';
import { CurrentPrincipal } from '../../../common/auth/principal.decorator.js';
import type { Principal } from '../../../common/user/principal.js';
import { RequirePermission } from '../../../common/auth/require-permission.decorator.js';
import { ApiErrors } from '../../../common/http/api-errors.decorator.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { Audited } from '../../audit/recording/audited.decorator.js';
import { StartedTestRunDto, testRunKey, TestRunParams } from './test-run.dto.js';
import { TestRunPathGuard } from './test-run-path.guard.js';
import { TestRunsService } from './test-runs.service.js';

/** Starts workflows by hand (extension of the contract). */
@ApiTags('Workflow runs')
@RequirePermission(Permission.WorkflowTest)
@Controller('rtm/api/runtime/app/:appId/build/:buildId/workflow/:workflowName')
export class TestRunsController {
  constructor(private readonly runs: TestRunsService) {}

  @Post('test-run')
  @HttpCode(HttpStatus.ACCEPTED)
  @UseGuards(TestRunPathGuard)
  @Audited(AuditAction.WorkflowTest)
  @ApiOperation({
    operationId: 'startTestRun',
    summary: 'Start a workflow by hand to try it out',
    description:
      'Extension of the contract. The body is the input. It runs in the background like those of processes, with everything it calls ' +
      'really called, and its `origin` is `TEST`; read the run to see how it goes.',
  })
  @ApiBody({
    schema: { type: 'object', additionalProperties: true },
    examples: { input: { summary: 'Input', value: { amount: 1_000 } } },
  })
  @ApiAcceptedResponse({
    type: StartedTestRunDto,
    example: { workflowRunId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40' },
    description: 'The run has begun.',
  })
  @ApiErrors(400, { 403: 'Insufficient permissions to test workflows' }, { 404: 'Workflow not found.' })
  async start(
    @CurrentPrincipal() principal: Principal,
    @Param() params: TestRunParams,
    @Body() body: Record<string, unknown>,
  ): Promise<StartedTestRunDto> {
    return { workflowRunId: await this.runs.start(principal, testRunKey(params), body) };
  }
}
