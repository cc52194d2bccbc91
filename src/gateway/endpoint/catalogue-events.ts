import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';

/**
 * Tells the subscribers of one endpoint that its list of tools has changed. Compares the list at an interval while there are subscribers,
 * so that it notices what happens on other replicas too.
 */
export class CatalogueEvents implements ServerEventBus {
  private readonly listeners = new Set<(event: ServerEvent) => void>();
  private timer: NodeJS.Timeout | undefined;
  private known: string | undefined;

  constructor(
    private readonly version: () => Promise<string>,
    private readonly pollMs: number,
  ) {}

  publish(event: ServerEvent): void {
    this.listeners.forEach((listener) => listener(event));
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.listeners.add(listener);
    if (this.timer === undefined) {
      this.known = undefined;
      this.timer = setTimeout(() => void this.look(), 0);
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) {
        clearTimeout(this.timer);
        this.timer = undefined;
      }
    };
  }

  /** Never rejects: a failed look is repeated. */
  private async look(): Promise<void> {
    const now = await this.version().catch(() => this.known);
    const hasChanged = this.known !== undefined && now !== this.known;
    this.known = now;
    if (hasChanged) {
      this.publish({ kind: 'tools_list_changed' });
    }
    if (this.listeners.size > 0) {
      this.timer = setTimeout(() => void this.look(), this.pollMs);
    }
  }
}
