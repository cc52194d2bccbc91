import type { NextFunction, RequestHandler } from 'express';

/**
 * Express middleware that runs others in their order, as one layer of the router: it matches paths and makes parameters for
 * each layer of its own. What one throws, or is rejected with, goes to the error handlers.
 */
export function oneAfterTheOther(handlers: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    const run = (index: number): void => {
      const handler = handlers[index];
      if (handler === undefined) {
        next();
        return;
      }
      try {
        const running: unknown = handler(request, response, (error?: unknown) =>
          error === undefined || error === null ? run(index + 1) : next(error),
        );
        if (running instanceof Promise) {
          void tellRejection(running, next);
        }
      } catch (error) {
        next(error);
      }
    };
    run(0);
  };
}

async function tellRejection(running: Promise<unknown>, next: NextFunction): Promise<void> {
  try {
    await running;
  } catch (error) {
    next(error);
  }
}
