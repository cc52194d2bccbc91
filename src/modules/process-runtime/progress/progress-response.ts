import type { Response } from 'express';
import type { ProgressSink } from './instance-progress.types.js';

const EVENT_STREAM = 'text/event-stream';

/** Sets the status and the headers of a stream of events. */
export function describeStream(response: Response): Response {
  response.status(200).setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
  // Whoever compresses or buffers would keep events back.
  return response.setHeader('Cache-Control', 'no-cache, no-transform').setHeader('X-Accel-Buffering', 'no');
}

/** Writes events to a response, whose headers go out with the first of them. A write waits until there is room for the next. */
export function sinkOf(response: Response): ProgressSink {
  return {
    write: (text) => {
      if (!response.headersSent) {
        describeStream(response);
      }
      return response.write(text) || response.destroyed ? Promise.resolve() : roomIn(response);
    },
    end: () => response.end(),
  };
}

function roomIn(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
