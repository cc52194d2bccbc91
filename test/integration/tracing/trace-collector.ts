import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from '../../support/runtime/runtime-client.js';
import { type Peer, readBody, startHttpPeer, startHttpsPeer } from '../../support/peers/peer.js';
import type { TlsCertificate } from '../../support/peers/certificates.js';

/** A span as the collector has it. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number };
  /** Of the resource: one of each replica. */
  instance: unknown;
}

/** A collector of traces on a free loopback port: OTLP over HTTP, in JSON. */
export interface TraceCollector extends Peer {
  readonly spans: CollectedSpan[];
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[];
  /** What it does with a request that was read; takes it when absent. */
  answer?: ((response: ServerResponse) => void) | undefined;
  /** Waits for spans of a trace, until there are all that are asked for. */
  trace(traceId: string, isWhole: (spans: CollectedSpan[]) => boolean): Promise<CollectedSpan[]>;
}

/** @param certificate makes it an https collector */
export async function startTraceCollector(certificate?: TlsCertificate): Promise<TraceCollector> {
  const state: Pick<TraceCollector, 'spans' | 'requests' | 'answer'> = { spans: [], requests: [] };
  const collect = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    state.requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (state.answer !== undefined) {
      state.answer(response);
      return;
    }
    state.spans.push(...spansOf(body));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void collect(request, response);
  };
  const peer = await (certificate === undefined
    ? startHttpPeer(listener)
    : startHttpsPeer(certificate, listener));
  const trace: TraceCollector['trace'] = (traceId, isWhole) =>
    eventually(() => Promise.resolve(state.spans.filter((span) => span.traceId === traceId)), isWhole);
  return Object.assign(state, peer, { trace });
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

function spansOf(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: {
      resource: { attributes: KeyValue[] };
      scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: KeyValue[] })[] }[];
    }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        instance: valuesOf(resource.attributes)['service.instance.id'],
      })),
    ),
  );
}

function valuesOf(attributes: KeyValue[]): Record<string, unknown> {
  // JSON may write 64-bit integers as numbers or as text.
  return Object.fromEntries(
    attributes.map(({ key, value: { intValue, ...others } }) => [
      key,
      intValue === undefined ? Object.values(others)[0] : String(Number(intValue)),
    ]),
  );
}
