import type { Transformer, TransformStreamDefaultController } from 'node:stream/web';

const END_OF_LINE = /\r\n|\r|\n/;
const DATA = /^data(?::|$)/;

/** Cleans a parsed JSON value; returns the value itself where there is nothing to clean. */
type Clean = (value: unknown) => unknown;

/** An answer whose JSON body, or the JSON in each event of whose event stream, is cleaned before anybody reads it. */
export function cleanedResponse(response: Response, clean: Clean): Response {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type) && response.body !== null) {
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(new TransformStream(new EventCleaner(clean))), {
      status,
      headers,
    });
  }
  const read = response.json.bind(response);
  return Object.defineProperty(response, 'json', { value: async () => clean(await read()) });
}

/** Cleans the data of each event of an event stream (WHATWG HTML, 9.2.6). Holds no more than one event. */
class EventCleaner implements Transformer<Uint8Array, Uint8Array> {
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private line = '';
  private endsInReturn = false;
  private data: string | undefined;

  constructor(private readonly clean: Clean) {}

  transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
    const decoded = this.decoder.decode(chunk, { stream: true });
    if (decoded === '') {
      return;
    }
    // A line that ended with the last chunk ends with CR LF.
    const text = this.endsInReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.endsInReturn = decoded.endsWith('\r');
    const [first = '', ...more] = text.split(END_OF_LINE);
    this.line += first;
    let passed = '';
    for (const next of more) {
      passed += this.passed(this.line);
      this.line = next;
    }
    if (passed !== '') {
      controller.enqueue(this.encoder.encode(passed));
    }
  }

  private passed(line: string): string {
    if (DATA.test(line)) {
      const value = line.slice(5).replace(/^ /, '');
      this.data = this.data === undefined ? value : `${this.data}\n${value}`;
      return '';
    }
    const data = line === '' ? this.data : undefined;
    this.data = line === '' ? undefined : this.data;
    return data === undefined ? `${line}\n` : `data: ${this.cleaned(data).replaceAll('\n', '\ndata: ')}\n\n`;
  }

  private cleaned(data: string): string {
    try {
      const value: unknown = JSON.parse(data);
      const cleaned = this.clean(value);
      return cleaned === value ? data : JSON.stringify(cleaned);
    } catch {
      // The library judges what is no JSON, or nested too deep to be written.
      return data;
    }
  }
}
