import type { Component } from '../../model/component.types.js';
import { addressesOf, requireOperator } from '../net/component-options.js';
import { certificateWarnings } from '../net/certificate.js';
import { openSocket, tlsTrustOf } from '../net/open-socket.js';
import { ProbeError } from '../../model/probe.error.js';
import { toProbeError } from '../net/probe-failure.js';
import type { ProbeContext, ProbeFinding } from '../../model/probe.js';
import { known, versionOf } from '../net/self-description.js';
import { connected, readUntil } from '../net/read-bytes.js';

const PORTS: Readonly<Record<string, number>> = { amqp: 5_672, amqps: 5_671 };
/** AMQP 0-9-1, section 4.2.2. */
const PROTOCOL_HEADER = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);
const METHOD_FRAME = 1;
const FRAME_HEADER = 7;
/** Class and method of connection.start. */
const CONNECTION_START = 0x000a_000a;

/**
 * Reads what an AMQP broker says before anybody signs in: connection.start with product and version. Credentials are
 * not sent.
 * @param now milliseconds since the epoch, for the rest of a certificate's life
 * @throws ProbeError
 */
export async function readAmqpGreeting(
  component: Component,
  context: ProbeContext,
  now: number,
): Promise<ProbeFinding> {
  requireOperator(component);
  const { scheme, servers } = addressesOf(component, PORTS[component.endpoint.split(':')[0] ?? ''] ?? 0);
  const isTls = scheme === 'amqps';
  try {
    const socket = openSocket(servers[0], context, isTls ? tlsTrustOf(component) : undefined);
    await connected(socket, isTls ? 'secureConnect' : 'connect');
    const answer = readUntil(socket, parseStart);
    socket.write(PROTOCOL_HEADER);
    const properties = await answer;
    return {
      type: 'rabbitmq',
      ...known('version', versionOf(textField(properties, 'version'))),
      warnings: certificateWarnings(socket, now),
    };
  } catch (error) {
    throw toProbeError(error, context.signal);
  }
}

/** The properties of connection.start as they came; undefined while the frame is not complete. */
function parseStart(bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== METHOD_FRAME) {
    throw new ProbeError('protocol');
  }
  const length = bytes.byteLength < FRAME_HEADER ? undefined : bytes.readUInt32BE(3);
  if (length === undefined || bytes.byteLength < FRAME_HEADER + length + 1) {
    return undefined;
  }
  if (length < 10 || bytes.readUInt32BE(FRAME_HEADER) !== CONNECTION_START) {
    throw new ProbeError('protocol');
  }
  return bytes.subarray(FRAME_HEADER, FRAME_HEADER + length);
}

/** A field of text in a table: length and name, `S`, length and value. */
function textField(table: Buffer, name: string): string | undefined {
  const at = table.indexOf(Buffer.from([name.length, ...Buffer.from(`${name}S`)]));
  const start = at + name.length + 2;
  if (at < 0 || start + 4 > table.byteLength) {
    return undefined;
  }
  return table.subarray(start + 4, start + 4 + table.readUInt32BE(start)).toString('utf8');
}
