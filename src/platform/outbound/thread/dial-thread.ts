import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Global, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { WorkerPool } from '../../threads/worker.pool.js';
import type { DialJob, DialledResponse, DialMessage, DialRequest, NextChunk } from '../outbound.types.js';
import { OutboundError, type OutboundFailure } from '../outbound.error.js';
import { outboundLimits } from '../outbound.limits.js';

/** Sends requests from a worker thread, because a TLS handshake can block its thread for long and cannot be interrupted. */
@Injectable()
export class DialThread implements OnModuleDestroy {
  private readonly pool: WorkerPool<DialJob, { id: number }, OutboundFailure | undefined>;

  constructor() {
    this.pool = new WorkerPool({
      name: 'outbound',
      entry: '#dial-worker',
      workerData: null,
      memoryMb: outboundLimits.threadMemoryMb,
      niceness: outboundLimits.threadNiceness,
      maxJobs: outboundLimits.threadCalls,
      read: () => undefined,
      lost: (cause) => (cause === 'timeout' ? 'timeout' : cause === 'refused' ? 'busy' : 'closed'),
    });
  }

  /**
   * Sends one request. Does not follow redirects.
   * @param deadlineMs limit for the entire exchange, including the body
   * @throws OutboundError; the reason of `signal`
   */
  async dial(request: DialRequest, deadlineMs: number, signal: AbortSignal): Promise<DialledResponse> {
    signal.throwIfAborted();
    const { port1: port, port2 } = new MessageChannel();
    const end = (): void => port.close();
    signal.addEventListener('abort', end, { once: true });
    const lost = this.pool
      .run({ ...request, port: port2 }, deadlineMs, undefined, [port2])
      .then((failure) => {
        signal.removeEventListener('abort', end);
        // Messages that the thread sent earlier may still be in transit.
        setImmediate(end);
        return failure ?? 'closed';
      });
    const next = async (): Promise<DialMessage> => {
      const message = await nextMessage(port, signal, lost);
      if ('failure' in message) {
        end();
        throw new OutboundError(message.failure);
      }
      return message;
    };
    const head = await next();
    if (!('status' in head)) {
      throw new OutboundError('protocol');
    }
    return { status: head.status, headers: new Headers([...head.headers]), body: bodyOf(port, next) };
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}

/** Waits for the next message of the thread. @throws OutboundError when the job is lost; the reason of the signal */
function nextMessage(
  port: MessagePort,
  signal: AbortSignal,
  lost: Promise<OutboundFailure>,
): Promise<DialMessage> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      port.off('message', onMessage).off('close', onClose);
      act();
    };
    const onMessage = (message: DialMessage): void => settle(() => resolve(message));
    const onClose = (): void =>
      settle(() =>
        signal.aborted
          ? reject(signal.reason as Error)
          : void lost.then((failure) => reject(new OutboundError(failure))),
      );
    port.on('message', onMessage).on('close', onClose);
    if (signal.aborted) {
      onClose();
    }
  });
}

function bodyOf(port: MessagePort, next: () => Promise<DialMessage>): DialledResponse['body'] {
  const read = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    const message = next();
    port.postMessage('next' satisfies NextChunk);
    const answer = await message;
    return 'chunk' in answer && answer.chunk !== undefined
      ? { done: false, value: answer.chunk }
      : { done: true, value: undefined };
  };
  const destroy = (): void => port.close();
  return {
    [Symbol.asyncIterator]: () => ({
      next: read,
      return: () => {
        destroy();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
    destroy,
  };
}

@Global()
@Module({ providers: [DialThread], exports: [DialThread] })
export class OutboundModule {}
