import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import type { DomainError } from '../../../common/errors/domain.error.js';
import type { Page } from '../../../common/page.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { BuildStandingsService } from '../../builds/active/build-standings.service.js';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import type { BuildDefinition } from '../../builds/model/builds.types.js';
import { StartNodeNotFoundError } from '../model/process-runtime.errors.js';
import type { ProcessKey } from '../model/process-runtime.types.js';
import { refusalOfAll, startEventsFor, type StartEvent } from './start-choice.js';
import { pageLimits } from '../../../common/validation/page.limits.js';

/** A process of a build as one caller may start it. */
export interface StartableProcess {
  readonly definition: BuildDefinition;
  readonly starts: readonly StartEvent[];
  /** What a start is answered with before its body is looked at; null where nothing stands against it. */
  readonly refusal: DomainError | null;
}

/** Which of the processes of a build to tell, by name. */
interface ProcessesQuery {
  after?: string;
  limit?: number;
}

/**
 * Tells callers how the processes of a build are started, and whether they may (docs/contract.md, section 4.1a). The definitions are
 * looked at as they are stored: none is made ready to run, which takes many times the memory.
 */
@Injectable()
export class StartableProcessesService {
  constructor(
    private readonly definitions: BuildDefinitionsService,
    private readonly env: Env,
    private readonly standings: BuildStandingsService,
  ) {}

  /**
   * A page of the processes of a build, without those of its libraries.
   * @throws BuildNotFoundError
   */
  async page(
    principal: Principal,
    build: Omit<ProcessKey, 'processName'>,
    { after, limit = pageLimits.size }: ProcessesQuery,
  ): Promise<Page<StartableProcess>> {
    const { items, next } = await this.definitions.page({ ...build, after }, limit);
    const { ofCaller, ofAll } = await this.standings.refusalsOf(principal, build.appId, build.buildId);
    const caller = { principal, permission: this.env.get('PROCESS_START_PERMISSION') };
    // In the order in which a start finds out (docs/contract.md, section 4.3).
    const processes = items.map((definition) => {
      const starts = startEventsFor({ build: definition }, caller);
      const own = refusalOfAll({ build: definition }, starts, caller);
      const first = own instanceof PermissionDeniedError ? own : ofCaller;
      const noStart = starts.length === 0 ? new StartNodeNotFoundError() : null;
      return { definition, starts, refusal: first ?? own ?? noStart ?? ofAll };
    });
    return { items: processes, next };
  }
}
