/** A promise that is settled from outside; `Promise.withResolvers` for Node 20. */
export class Deferred<Value> {
  resolve: (value: Value) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}
