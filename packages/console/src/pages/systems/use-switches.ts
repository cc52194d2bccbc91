import { useEffect, useState } from 'preact/hooks';
import type { SwitchToolResponse } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { etagOf, ifMatch } from '../../live/versions.js';
import type { SystemPath } from './system-paths.js';

/** Path parameters of a system's tools. */
export type SwitchPath = SystemPath & { systemId: string };

/**
 * Switches tools of a system one by one. Each switch uses the ETag of the state shown or of the previous switch, so changes by others
 * are never overwritten, and the user's own switches do not conflict.
 */
export class Switches {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** @param version ETag of the system as shown */
  constructor(
    private readonly path: SwitchPath,
    private version: string | null,
  ) {}

  /** Sets the ETag of the state shown now. Ignored during a switch, whose response has a newer one. */
  update(version: string | null): void {
    if (this.waiting === 0) {
      this.version = version;
    }
  }

  /** Enables or disables a tool. @throws ServiceError @throws MissingEtagError */
  async switch(toolId: string, enabled: boolean): Promise<SwitchToolResponse> {
    this.waiting += 1;
    const switched = this.last.then(() => this.send(toolId, enabled));
    this.last = switched.catch(() => undefined);
    try {
      return await switched;
    } finally {
      this.waiting -= 1;
    }
  }

  private async send(toolId: string, enabled: boolean): Promise<SwitchToolResponse> {
    const { data, response } = await api().switchTool({
      path: { ...this.path, toolId },
      headers: ifMatch(this.version),
      body: { enabled },
    });
    this.version = etagOf(response);
    return data;
  }
}

/** Keeps the switches of a system while a page shows it. */
export function useSwitches(path: SwitchPath, version: string | null): Switches {
  const [switches] = useState(() => new Switches(path, version));
  useEffect(() => switches.update(version), [version]);
  return switches;
}
