import { BSON } from 'mongodb';
import { type Peer, startTcpPeer } from '../peers/peer.js';

const HEADER = 16;
const OP_REPLY = 1;
const OP_QUERY = 2_004;
const OP_MSG = 2_013;

/** What a MongoDB server answers to one command. */
export type MongodbAnswer = (command: string) => Record<string, unknown>;

/** Starts a server that speaks MongoDB's wire protocol with scripted answers; the official driver can connect to it. */
export function startMongodbStub(answer: MongodbAnswer): Promise<Peer> {
  return startTcpPeer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.byteLength >= HEADER && bytes.byteLength >= bytes.readInt32LE(0)) {
        const message = bytes.subarray(0, bytes.readInt32LE(0));
        bytes = bytes.subarray(message.byteLength);
        socket.write(reply(message, answer));
      }
    });
  }, 'http');
}

function reply(message: Buffer, answer: MongodbAnswer): Buffer {
  const isQuery = message.readInt32LE(12) === OP_QUERY;
  // In OP_QUERY, flags, a NUL-terminated name, skip and limit precede the document; in OP_MSG, flags and a kind.
  const start = isQuery ? message.indexOf(0, HEADER + 4) + 9 : HEADER + 5;
  const size = message.readInt32LE(start);
  const command = Object.keys(BSON.deserialize(message.subarray(start, start + size)))[0] ?? '';
  const document = BSON.serialize(/^(hello|ismaster)$/i.test(command) ? HELLO : answer(command));
  const prefix = Buffer.alloc(isQuery ? 20 : 5);
  if (isQuery) {
    prefix.writeInt32LE(1, 16);
  }
  const header = Buffer.alloc(HEADER);
  header.writeInt32LE(HEADER + prefix.byteLength + document.byteLength, 0);
  header.writeInt32LE(message.readInt32LE(4), 8);
  header.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, prefix, document]);
}

const HELLO = {
  ok: 1,
  helloOk: true,
  isWritablePrimary: true,
  ismaster: true,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
};
