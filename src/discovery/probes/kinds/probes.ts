import { Injectable } from '@nestjs/common';
import { ProbeClients, type ProbeOfKind } from '../http/probe-clients.js';
import type { Component, ComponentKind } from '../../model/component.types.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';
import { probeHttp } from './http.probe.js';
import { probeKafka } from './kafka.probe.js';
import { probeMcp } from './mcp.probe.js';
import { probeMongodb } from './mongodb.probe.js';
import { probeMysql } from './mysql.probe.js';
import { probePostgresql } from './postgresql.probe.js';
import { probeNats, probeRabbitmq } from './rabbitmq-nats.probes.js';
import { probeRedis } from './redis.probe.js';
import { probeSmtp } from './smtp.probe.js';
import { probeElasticsearch, probeOidc, probeS3, probeTokenEndpoint } from './web.probes.js';

const PROBES: Readonly<Record<ComponentKind, ProbeOfKind>> = {
  /** This service itself, which is healthy if it can respond. */
  self: async () => ({}),
  http: probeHttp,
  mysql: probeMysql,
  postgresql: probePostgresql,
  mongodb: probeMongodb,
  redis: probeRedis,
  kafka: probeKafka,
  rabbitmq: probeRabbitmq,
  nats: probeNats,
  elasticsearch: probeElasticsearch,
  s3: probeS3,
  oidc: probeOidc,
  'token-endpoint': probeTokenEndpoint,
  smtp: probeSmtp,
  mcp: probeMcp,
};

/** Checks a component of any kind. */
@Injectable()
export class Probes {
  constructor(private readonly clients: ProbeClients) {}

  /** @throws ProbeError as a `Probe` */
  run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    return PROBES[component.kind](component, context, this.clients);
  }
}
