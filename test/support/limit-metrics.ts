import { Metrics } from '../../src/common/metrics/metrics.js';
import type { TestApp } from './app.js';

/** What `/metrics` says of one limit. */
export interface ShownLimit {
  most: number | undefined;
  refusals: number | undefined;
  all: number | undefined;
  largest: number | undefined;
}

/** Reads what `/metrics` says of the limit of a setting; not as a request, which would count itself. */
export async function limitMetrics(app: TestApp, setting: string): Promise<ShownLimit> {
  const text = await app.nest.get(Metrics).text();
  const value = (name: string, labels = ''): number | undefined => {
    const line = text.split('\n').find((each) => each.startsWith(`${name}{limit="${setting}"${labels}} `));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  return {
    most: value('svc_limit'),
    refusals: value('svc_limit_refusals_total'),
    all: value('svc_limit_use', ',of="all"'),
    largest: value('svc_limit_use', ',of="largest"'),
  };
}
