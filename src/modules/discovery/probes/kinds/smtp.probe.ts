import { Injectable } from '@nestjs/common';
import type { Socket } from 'node:net';
import { Clock } from '../../../../common/clock.js';
import type { Component } from '../../model/component.types.js';
import { beginTls, connected, openSocket, readUntil, tlsTrustOf } from '../net/open-socket.js';
import { addressesOf } from '../net/component-options.js';
import { certificateWarnings } from '../net/warnings.js';
import { ProbeError } from '../../model/failures.js';
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

/** Looks at a mail server. Its certificate is not judged: mail servers encrypt with any. */
@Injectable()
export class SmtpProbe implements Probe {
  readonly kind = 'smtp';

  constructor(private readonly clock: Clock) {}

  async run(component: Component, context: ProbeContext): Promise<ProbeFinding> {
    const { scheme, servers } = addressesOf(component, PORTS[component.endpoint.split(':')[0] ?? ''] ?? 0);
    const [server] = servers;
    const isTls = scheme === 'smtps';
    try {
      const socket = openSocket(server, context, isTls ? tlsTrustOf(component) : undefined);
      await connected(socket, isTls ? 'secureConnect' : 'connect');
      await replyTo(socket, '', 220);
      const keywords = await keywordsOf(socket);
      const secured = keywords.includes('STARTTLS')
        ? await this.secure(socket, server.host, context)
        : { keywords, warnings: this.certificate(socket) };
      return { ...known('capabilities', capabilitiesOf(secured.keywords)), warnings: secured.warnings };
    } catch (error) {
      throw toProbeError(error, context.signal);
    }
  }

  private async secure(socket: Socket, host: string, context: ProbeContext) {
    await replyTo(socket, 'STARTTLS\r\n', 220);
    const secure = await beginTls(socket, host, context);
    const keywords = await keywordsOf(secure);
    const warnings = this.certificate(secure);
    secure.end('QUIT\r\n');
    return { keywords: ['STARTTLS', ...keywords], warnings };
  }

  private certificate(socket: Socket): ProbeWarning[] {
    return certificateWarnings(socket, this.clock.now().getTime());
  }
}

/** Sends a command, if any, and returns the lines of the reply, which must have this code. */
async function replyTo(socket: Socket, command: string, code: number): Promise<string[]> {
  const reply = readUntil(socket, parseReply);
  if (command !== '') {
    socket.write(command);
  }
  const answer = await reply;
  if (answer.code !== code) {
    throw new ProbeError('down');
  }
  return answer.lines;
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

async function keywordsOf(socket: Socket): Promise<string[]> {
  const [, ...keywords] = await replyTo(socket, EHLO, 250);
  return keywords.map((line) => (line.split(/[ =]/, 1)[0] ?? '').toUpperCase());
}
