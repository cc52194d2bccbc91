import { OutboundError } from './outbound.error.js';

const [NEW_LINE, CARRIAGE_RETURN] = Buffer.from('\n\r');
const [COMMA, OPENING_BRACKET, OPENING_BRACE] = Buffer.from(',[{');

/** Limits the decoded bytes of a response, or of each event of an event stream. */
export class ResponseMeter {
  private bytes = 0;
  private lineLength = 0;

  constructor(
    private readonly limit: number,
    private readonly perEvent: boolean,
  ) {}

  /** @throws OutboundError `too_large` */
  add(chunk: Uint8Array): void {
    if (!this.perEvent) {
      this.grow(chunk.byteLength);
      return;
    }
    for (const byte of chunk) {
      this.grow(1);
      if (byte === NEW_LINE) {
        this.bytes = this.lineLength === 0 ? 0 : this.bytes;
        this.lineLength = 0;
      } else if (byte !== CARRIAGE_RETURN) {
        this.lineLength += 1;
      }
    }
  }

  private grow(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limit) {
      throw new OutboundError('too_large');
    }
  }
}

/** Counts commas and opening brackets in a chunk of JSON. Those inside strings count too, so none can be hidden. */
export function countElements(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) {
    if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      count += 1;
    }
  }
  return count;
}

/**
 * Wraps a body so that every chunk is admitted before the reader gets it. Nothing is read ahead.
 * @param admit may wait or throw
 * @param onError maps an error of the source or of `admit` to the error that the reader gets
 */
export function meteredBody(
  source: AsyncIterable<Uint8Array>,
  admit: (chunk: Uint8Array) => Promise<void>,
  onError: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done === true) {
            controller.close();
            return;
          }
          await admit(value);
          controller.enqueue(value);
        } catch (error) {
          controller.error(onError(error));
        }
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
