import { createServer } from 'node:http';

/** Stands in for many healthy services: answers every request after DELAY_MS milliseconds. */
const delayMs = Number(process.env['DELAY_MS']);
const body = JSON.stringify({ status: 'UP', version: '1.0.0' });
const server = createServer((_request, response) => {
  setTimeout(() => response.setHeader('content-type', 'application/json').end(body), delayMs);
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address() ?? {}));
