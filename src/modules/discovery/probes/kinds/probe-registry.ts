import { Injectable, type Provider, type Type } from '@nestjs/common';
import { ProbeHttpClient } from '../http/probe-http.client.js';
import type { Probe, ProbeFinding } from '../../model/probe.js';
import { ElasticsearchProbe } from './elasticsearch.probe.js';
import { HttpProbe } from './http.probe.js';
import { KafkaProbe } from './kafka.probe.js';
import { McpProbe } from './mcp.probe.js';
import { MongodbProbe } from './mongodb.probe.js';
import { MysqlProbe } from './mysql.probe.js';
import { NatsProbe } from './nats.probe.js';
import { OidcProbe } from './oidc.probe.js';
import { PostgresqlProbe } from './postgresql.probe.js';
import { RabbitmqProbe } from './rabbitmq.probe.js';
import { RedisProbe } from './redis.probe.js';
import { S3Probe } from './s3.probe.js';
import { SmtpProbe } from './smtp.probe.js';
import { TokenEndpointProbe } from './token-endpoint.probe.js';

/** This service itself: whoever can ask it is answered by it. */
@Injectable()
class SelfProbe implements Probe {
  readonly kind = 'self';

  async run(): Promise<ProbeFinding> {
    return {};
  }
}

/** Every probe, one for each kind of component. */
const PROBE_CLASSES: readonly Type<Probe>[] = [
  ElasticsearchProbe,
  HttpProbe,
  KafkaProbe,
  McpProbe,
  MongodbProbe,
  MysqlProbe,
  NatsProbe,
  OidcProbe,
  PostgresqlProbe,
  RabbitmqProbe,
  RedisProbe,
  S3Probe,
  SelfProbe,
  SmtpProbe,
  TokenEndpointProbe,
];

/** Injection token of a list of all probes. */
export const PROBES = Symbol('PROBES');

/** The probes and their list, for the module. */
export const PROBE_PROVIDERS: Provider[] = [
  ...PROBE_CLASSES,
  ProbeHttpClient,
  { provide: PROBES, inject: [...PROBE_CLASSES], useFactory: (...probes: Probe[]): Probe[] => probes },
];
