import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from '../../support/runtime/runtime-client.js';
import { type Peer, readBody, startHttpPeer, startHttpsPeer } from '../../support/peers/peer.js';
import type { TlsCertificate } from '../../support/peers/certificates.js';

/** A received span. */
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
  /** Instance id of the resource, which differs for each replica. */
  instance: unknown;
}

/** A trace collector (OTLP over HTTP, JSON) on a free loopback port. */
export interface TraceCollector extends Peer {
  readonly spans: CollectedSpan[];
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[];
  /** Overrides the response to a request. By default the spans are accepted. */
  answer?: ((response: ServerResponse) => void) | undefined;
  /** Waits for the spans of a trace until `isComplete` accepts them. */
  trace(traceId: string, isComplete: (spans: CollectedSpan[]) => boolean): Promise<CollectedSpan[]>;
}

/**
 * Starts a collector.
 * @param certificate enables https
 */
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
  const trace: TraceCollector['trace'] = (traceId, isComplete) =>
    eventually(() => Promise.resolve(state.spans.filter((span) => span.traceId === traceId)), isComplete);
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
  // OTLP in JSON may contain 64-bit integers as numbers or strings.
  return Object.fromEntries(
    attributes.map(({ key, value: { intValue, ...others } }) => [
      key,
      intValue === undefined ? Object.values(others)[0] : String(Number(intValue)),
    ]),
  );
}
