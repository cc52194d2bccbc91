import { Injectable } from '@nestjs/common';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { ToolUse } from '../model/tool.types.js';

/** A system of a version whose tools nodes may use. */
export interface UsedSystem extends AppVersionKey {
  resourceDefinitionId: string;
}

/** Finds the nodes that use a system, of applications that somebody may see. */
export type ToolUseFinder = (system: UsedSystem, maySee: (appId: string) => boolean) => Promise<ToolUse[]>;

/** Who uses the tools of a system, as far as other modules know. */
@Injectable()
export class ToolUsesService {
  private readonly finders: ToolUseFinder[] = [];

  /** Call it in `onModuleInit`. */
  register(finder: ToolUseFinder): void {
    this.finders.push(finder);
  }

  /** Not inside of a transaction. */
  async of(...[system, maySee]: Parameters<ToolUseFinder>): Promise<ToolUse[]> {
    const found: ToolUse[] = [];
    for (const finder of this.finders) {
      found.push(...(await finder(system, maySee)));
    }
    return found;
  }
}
