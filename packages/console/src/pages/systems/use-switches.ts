import { useEffect, useState } from 'preact/hooks';
import type { SwitchToolResponse } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { ifMatch, versionOf } from '../../live/versions.js';
import type { SystemPath } from './system-paths.js';

/** Names a system in paths of its tools. */
export type SwitchPath = SystemPath & { systemId: string };

/**
 * Switches tools of a system, one after the other: each on the state that is shown, or that the one before has left. So what others
 * have changed meanwhile is never decided about, and nobody is in his own way.
 */
export class Switches {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param version of the system as it is shown */
  constructor(
    private readonly path: SwitchPath,
    private version: string | null,
  ) {}

  /** Tells what is shown now. While something is switched its answer says where to go on. */
  shown(version: string | null): void {
    if (this.waiting === 0) {
      this.version = version;
    }
  }

  /** @throws what the service says, and NoVersionError */
  async switch(toolId: string, enabled: boolean): Promise<SwitchToolResponse> {
    this.waiting += 1;
    const switched = this.last.then(() => this.now(toolId, enabled));
    this.last = switched.catch(() => undefined);
    try {
      return await switched;
    } finally {
      this.waiting -= 1;
    }
  }

  private async now(toolId: string, enabled: boolean): Promise<SwitchToolResponse> {
    const { data, response } = await api().switchTool({
      path: { ...this.path, toolId },
      headers: ifMatch(this.version),
      body: { enabled },
    });
    this.version = versionOf(response);
    return data;
  }
}

/** The switches of a system, as long as a page shows it. */
export function useSwitches(path: SwitchPath, version: string | null): Switches {
  const [switches] = useState(() => new Switches(path, version));
  useEffect(() => switches.shown(version), [version]);
  return switches;
}
