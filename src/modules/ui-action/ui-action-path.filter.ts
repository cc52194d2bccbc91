import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../common/user/principal.js';
import { AllExceptionsFilter } from '../../common/http/all-exceptions.filter.js';
import { UnreadableBodyError, ValidationFailedError } from '../../common/errors/request.errors.js';
import { Log } from '../../common/logging/log.js';
import { Metrics } from '../../common/metrics/metrics.js';
import { PATH_ID } from '../../common/validation/patterns.decorators.js';
import { UiActionPathService } from '../process-runtime/ui-actions/ui-action-path.service.js';
import type { UiActionKey } from '../process-runtime/model/process-runtime.types.js';

/**
 * Answers 404 of the path before 400 of a body that cannot be read. A filter and not a guard: the path is looked up in the
 * transaction that executes the action, and only requests that never get there need a look of their own.
 */
@Catch()
@Injectable()
export class UiActionPathFilter implements ExceptionFilter {
  private readonly errors: AllExceptionsFilter;

  constructor(
    log: Log,
    metrics: Metrics,
    private readonly paths: UiActionPathService,
  ) {
    this.errors = new AllExceptionsFilter(log, metrics);
  }

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    this.errors.answer(await this.first(error, host), host);
  }

  /** Whatever is wrong with the path, else the error itself. */
  private async first(error: unknown, host: ArgumentsHost): Promise<unknown> {
    const request = host.switchToHttp().getRequest<Request>();
    const principal = principalOf(request);
    const isOfBody = error instanceof UnreadableBodyError || error instanceof ValidationFailedError;
    const key = request.params as unknown as UiActionKey;
    if (!isOfBody || principal === undefined || !isKey(key)) {
      return error;
    }
    try {
      await this.paths.demandPath(principal, key);
      return error;
    } catch (pathError) {
      return pathError;
    }
  }
}

function isKey({ processUuid, tokenUuid, uiActionSvcUuid }: UiActionKey): boolean {
  return [processUuid, tokenUuid, uiActionSvcUuid].every((id) => PATH_ID.test(id));
}
