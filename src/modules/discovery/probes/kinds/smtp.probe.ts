import { Injectable } from '@nestjs/common';
import type { Socket } from 'node:net';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { connected, readUntil } from '../net/read-bytes.js';
import { addressesOf, requireOperator } from '../net/component-options.js';
import { certificateWarnings } from '../net/certificate.js';
import { beginTls, openSocket, tlsTrustOf } from '../net/open-socket.js';
import { ProbeError } from '../../model/probe.error.js';
import { toProbeError } from '../net/probe-failure.js';
import type { Probe, ProbeContext, ProbeFinding, ProbeWarning } from '../../model/probe.js';
import { capabilitiesOf, known } from '../net/self-description.js';

const PORTS: Readonly<Record<string, number>> = { smtp: 25, smtps: 465 };
/** An address literal (RFC 5321, section 4.1.3): the name of this host is nobody's business. */
const EHLO = 'EHLO [127.0.0.1]\r\n';

/** One reply: its code and the text of its lines. */
interface Reply {
  code: number;
  lines: string[];
}

/**
 * Looks at a mail server: greeting, EHLO keywords as capabilities, and the certificate behind STARTTLS. The certificate is read
 * and not judged, because mail servers encrypt among themselves with any. Signs in nowhere and needs no account.
 */
@Injectable()
export class SmtpProbe implements Probe {
  readonly kind = 'smtp';

  constructor(private readonly clock: Clock) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    requireOperator(component);
    const { scheme, servers } = addressesOf(component, PORTS[component.endpoint.split(':')[0] ?? ''] ?? 0);
    const [server] = servers;
    const isTls = scheme === 'smtps';
    try {
      const socket = openSocket(server, context, isTls ? tlsTrustOf(component) : undefined);
      const greeting = await replyTo(socket, connected(socket, isTls ? 'secureConnect' : 'connect'));
      expect(greeting, 220);
      const keywords = keywordsOf(await replyTo(socket, EHLO));
      const secured = keywords.includes('STARTTLS')
        ? await this.secure(socket, server.host, context)
        : { keywords, warnings: this.certificate(socket) };
      return { ...known('capabilities', capabilitiesOf(secured.keywords)), warnings: secured.warnings };
    } catch (error) {
      throw toProbeError(error, context.signal);
    }
  }

  private async secure(socket: Socket, host: string, context: ProbeContext) {
    expect(await replyTo(socket, 'STARTTLS\r\n'), 220);
    const secure = await beginTls(socket, host, context);
    const keywords = keywordsOf(await replyTo(secure, EHLO));
    const warnings = this.certificate(secure);
    secure.end('QUIT\r\n');
    return { keywords: ['STARTTLS', ...keywords], warnings };
  }

  private certificate(socket: Socket): ProbeWarning[] {
    return certificateWarnings(socket, this.clock.now().getTime());
  }
}

/** Sends a command, or waits for the connection, and reads the reply. */
async function replyTo(socket: Socket, command: string | Promise<void>): Promise<Reply> {
  if (typeof command !== 'string') {
    await command;
    return readUntil(socket, parseReply);
  }
  const reply = readUntil(socket, parseReply);
  socket.write(command);
  return reply;
}

/** RFC 5321, section 4.2.1: lines of `code-text`, the last one `code text`. */
function parseReply(bytes: Buffer): Reply | undefined {
  const text = bytes.toString('latin1');
  if (!/^\d{0,3}$|^\d{3}[ \-\r]/.test(text.slice(0, 4))) {
    throw new ProbeError('protocol');
  }
  const lines = text.split('\r\n').slice(0, -1);
  const last = lines.findIndex((line) => /^\d{3}( |$)/.test(line));
  return last < 0
    ? undefined
    : { code: Number(text.slice(0, 3)), lines: lines.slice(0, last + 1).map((line) => line.slice(4)) };
}

function expect(reply: Reply, code: number): void {
  if (reply.code !== code) {
    throw new ProbeError('down');
  }
}

function keywordsOf(reply: Reply): string[] {
  expect(reply, 250);
  return reply.lines.slice(1).map((line) => (line.split(/[ =]/, 1)[0] ?? '').toUpperCase());
}
