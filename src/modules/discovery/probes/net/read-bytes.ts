import type { Socket } from 'node:net';
import { ProbeError } from '../../model/probe.error.js';

const MAX_BYTES = 65_536;

/**
 * Reads from a socket until `parse` finds its value in all bytes so far.
 * @param parse undefined when more is needed
 * @throws ProbeError `too_large` after 64 KiB, `network` when the other side ends; the error of the socket; what `parse` throws
 */
export function readUntil<T>(socket: Socket, parse: (bytes: Buffer) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (finish: () => void): void => {
      socket.off('data', onData).off('error', onError).off('close', onClose).pause();
      finish();
    };
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(new ProbeError('network')));
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const found = parse(bytes);
        if (found !== undefined) {
          settle(() => resolve(found));
        } else if (bytes.byteLength > MAX_BYTES) {
          settle(() => reject(new ProbeError('too_large')));
        }
      } catch (error) {
        settle(() => reject(error));
      }
    };
    // A listener alone does not set a socket flowing again that an earlier reader has paused.
    socket.on('error', onError).on('close', onClose).on('data', onData).resume();
  });
}

/** Resolves when a socket, TLS included, is connected. */
export function connected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('close', () => reject(new ProbeError('network')));
    socket.once(event, () => resolve());
  });
}
