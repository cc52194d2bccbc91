import { execFile, type ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { nextMessage } from '../../tools/proofs/support/helper-process.js';
import { killOnExit } from '../support/databases/process-resources.js';

/** More listeners than Node allows per event before it warns about a leak. */
const MANY = 20;
const HOOK = fileURLToPath(new URL('../support/databases/process-resources.ts', import.meta.url));

const childOf = (events: EventEmitter): ChildProcess => events as ChildProcess;

describe('nextMessage', () => {
  it('leaves no listeners behind', async () => {
    const events = new EventEmitter();
    for (let number = 0; number < MANY; number += 1) {
      const message = nextMessage(childOf(events));
      events.emit('message', number);
      expect(await message).toBe(number);
    }
    expect([events.listenerCount('message'), events.listenerCount('exit')]).toEqual([0, 0]);
  });

  it('rejects when the process exits instead', async () => {
    const events = new EventEmitter();
    const message = nextMessage(childOf(events));
    events.emit('exit', 1);
    await expect(message).rejects.toThrow('ended without a message');
    expect([events.listenerCount('message'), events.listenerCount('exit')]).toEqual([0, 0]);
  });
});

describe('killOnExit', () => {
  it('adds no listener to this process per child, and releases children that have exited', () => {
    const before = process.listenerCount('exit');
    const children = Array.from({ length: MANY }, () => new EventEmitter());
    children.forEach((child) => killOnExit(childOf(child)));
    expect(process.listenerCount('exit')).toBe(before);
    children.forEach((child) => child.emit('exit', 0));
    expect(children.map((child) => child.listenerCount('exit'))).toEqual(children.map(() => 0));
  });

  it('kills the children when the process fails', async () => {
    // A child that outlived its parent would print to the output, which stays open until the child exits.
    const script = `
      import { spawn } from 'node:child_process';
      import { killOnExit } from ${JSON.stringify(HOOK)};
      const survivor = "setTimeout(() => console.log('survived'), 3000)";
      killOnExit(spawn(process.execPath, ['-e', survivor], { stdio: 'inherit' }));
      console.log('started');
      throw new Error('a failed test');
    `;
    const options = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const outcome = promisify(execFile)(process.execPath, options);
    await expect(outcome).rejects.toMatchObject({ code: 1, stdout: 'started\n' });
  });
});
