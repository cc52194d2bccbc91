/**
 * Shares one reading among many callers. No caller gets a reading that began before the call. Callers who come while a reading
 * is under way wait together for the next one.
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
