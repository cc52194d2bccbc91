/**
 * Shares one reading among many callers, none of whom gets one that began before they asked: who comes while one is under
 * way waits for the next, together with all others who do.
 */
export class SharedRead<Value> {
  private running: Promise<Value> | undefined;
  private next: Promise<Value> | undefined;

  constructor(private readonly read: () => Promise<Value>) {}

  get(): Promise<Value> {
    if (this.running === undefined) {
      return this.start();
    }
    this.next ??= this.afterwards(this.running);
    return this.next;
  }

  private async afterwards(running: Promise<Value>): Promise<Value> {
    await running.catch(() => undefined);
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<Value> {
    const running = this.read().finally(() => {
      this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
