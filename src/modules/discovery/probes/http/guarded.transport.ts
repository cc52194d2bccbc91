import type { OutboundOperation } from '../../../../common/outbound/outbound.operation.js';
import type { ProbeWarning } from '../../model/probe.js';
import { HttpAnswer } from './http-answer.js';
import type { HttpRequest, HttpTransport } from './http-transport.js';

/** HTTP to addresses that callers of the API named: through the guarded client, which judges each address it dials. */
export class GuardedTransport implements HttpTransport {
  constructor(private readonly operation: OutboundOperation) {}

  async send(url: URL, request: HttpRequest): Promise<HttpAnswer> {
    const response = await this.operation.fetch(url, { ...request });
    return new HttpAnswer(response.status, Object.fromEntries(response.headers), await response.text());
  }

  /** The guarded client shows no certificate. */
  warnings(): ProbeWarning[] {
    return [];
  }
}
