import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { BuildStandingsService } from '../../builds/active/build-standings.service.js';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import { StartNodeNotFoundError } from '../model/process-runtime.errors.js';
import type { DefinitionKey } from '../../builds/model/builds.types.js';
import { refusalOfAll, startEventsFor } from './start-choice.js';
import { toStartableProcess, type ProcessesQueryDto, type ProcessPageDto } from './startable-process.dto.js';
import { pageLimits } from '../../../common/validation/page.limits.js';

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

  /** Processes of a build, without those of its libraries. @throws BuildNotFoundError */
  async page(
    principal: Principal,
    build: Omit<DefinitionKey, 'processName'>,
    { after, limit = pageLimits.size }: ProcessesQueryDto,
  ): Promise<ProcessPageDto> {
    const { items, next } = await this.definitions.page({ ...build, after }, limit);
    const { ofCaller, ofAll } = await this.standings.refusalsOf(principal, build.appId, build.buildId);
    const caller = { principal, permission: this.env.get('PROCESS_START_PERMISSION') };
    // In the order in which a start finds out (docs/contract.md, section 4.3).
    const processes = items.map((definition) => {
      const starts = startEventsFor({ build: definition }, caller);
      const own = refusalOfAll({ build: definition }, starts, caller);
      const first = own instanceof PermissionDeniedError ? own : ofCaller;
      const noStart = starts.length === 0 ? new StartNodeNotFoundError() : null;
      return toStartableProcess(definition, starts, first ?? own ?? noStart ?? ofAll);
    });
    return { processes, next };
  }
}
