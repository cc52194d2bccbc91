import type { Agent } from 'undici';

/** The sockets of one or more operations. Idle ones are closed after some seconds, or when the server says so. */
export class KeptSockets {
  constructor(readonly agent: Agent) {}

  /** Closes every socket, also those in use. Safe to call twice. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}
