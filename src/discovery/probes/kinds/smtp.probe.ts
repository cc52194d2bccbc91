import type { Socket } from 'node:net';
import type { Component } from '../../model/component.types.js';
import { beginTls, connected, openSocket, readUntil, tlsTrustOf } from '../net/open-socket.js';
import { addressesOf } from '../net/component-options.js';
import { ProbeError } from '../../model/failures.js';
import { toProbeError } from '../net/probe-failure.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';
import { capabilitiesOf } from '../net/self-description.js';

const PORTS: Readonly<Record<string, number>> = { smtp: 25, smtps: 465 };
/** EHLO with an address literal (RFC 5321, section 4.1.3), so that the name of this host is not revealed. */
const EHLO = 'EHLO [127.0.0.1]\r\n';

/** A reply: its code and the text of its lines. */
interface Reply {
  code: number;
  lines: string[];
}

/** Checks a mail server. Its certificate is not verified, as is usual between mail servers. */
export async function probeSmtp(component: Component, context: ProbeContext): Promise<ProbeFinding> {
  const { scheme, servers } = addressesOf(component, PORTS[component.endpoint.split(':')[0] ?? ''] ?? 0);
  const [server] = servers;
  try {
    const socket = openSocket(server, context, scheme === 'smtps' ? tlsTrustOf(component) : undefined);
    await connected(socket);
    await replyTo(socket, '', 220);
    const keywords = await keywordsOf(socket);
    if (keywords.includes('STARTTLS')) {
      await replyTo(socket, 'STARTTLS\r\n', 220);
      const secure = await beginTls(socket, server.host, context);
      keywords.splice(0, keywords.length, 'STARTTLS', ...(await keywordsOf(secure)));
      secure.end('QUIT\r\n');
    }
    return { capabilities: capabilitiesOf(keywords) };
  } catch (error) {
    throw toProbeError(error, context.signal);
  }
}

/** Sends a command, if any, and returns the lines of the reply, which must have the given code. */
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

/** Parses a reply (RFC 5321, section 4.2.1): lines of `code-text`, the last one `code text`. */
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
