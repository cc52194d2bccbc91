import { describe, expect, it } from 'vitest';
import { ProbeDesk } from './probe-desk.js';
import type { ProbeQuestion } from './main-thread.js';

const MAX_STALL_MS = 1_000;
const BUSY_MS = 500;

describe('ProbeDesk', () => {
  const opened = (answer: (question: ProbeQuestion, desk: ProbeDesk) => void = () => undefined) => {
    const questions: ProbeQuestion[] = [];
    const pulse = { silentMs: 0 };
    const desk: ProbeDesk = new ProbeDesk(
      MAX_STALL_MS,
      () => pulse.silentMs,
      (question) => {
        questions.push(question);
        answer(question, desk);
      },
    );
    return { desk, pulse, questions };
  };

  it('reports the main thread as alive until it has been silent for too long', async () => {
    const { desk, pulse } = opened();
    expect(await desk.answer('/livez')).toMatchObject({ status: 200, body: '{"status":"ok","silentMs":0}' });
    pulse.silentMs = MAX_STALL_MS;
    expect(await desk.answer('/livez')).toMatchObject({ status: 200 });
    pulse.silentMs += 1;
    expect(await desk.answer('/livez')).toMatchObject({
      status: 503,
      body: '{"status":"unavailable","silentMs":1001}',
    });
  });

  it('asks the main thread while it is responsive', async () => {
    let isReady = true;
    const { desk, questions } = opened((question, to) =>
      to.learn(question === 'readiness' ? { readiness: isReady } : { metrics: 'made 1\n' }),
    );
    expect(await desk.answer('/readyz')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^{"status":"ok","ageMs":\d+}$/) as string,
    });
    isReady = false;
    expect(await desk.answer('/readyz')).toMatchObject({ status: 503 });
    const { body } = await desk.answer('/metrics');
    expect(body).toMatch(
      /^made 1\n(.*\n)*svc_metrics_age_seconds [\d.]+\n(.*\n)*svc_main_thread_silence_seconds 0\n$/,
    );
    expect(questions).toEqual(['readiness', 'readiness', 'metrics']);
  });

  it('returns the last known state while the main thread is busy, and asks only once', async () => {
    const { desk, pulse, questions } = opened();
    pulse.silentMs = BUSY_MS;
    expect(await desk.answer('/readyz')).toMatchObject({
      status: 503,
      body: '{"status":"unavailable","ageMs":null}',
    });
    expect(await desk.answer('/metrics')).toMatchObject({ status: 503, body: '' });
    desk.learn({ readiness: true });
    desk.learn({ metrics: 'made 1\n' });
    expect(await desk.answer('/readyz')).toMatchObject({ status: 200 });
    const { body } = await desk.answer('/metrics');
    expect(body).toContain('made 1\n');
    expect(body).toContain('svc_main_thread_silence_seconds 0.5\n');
    pulse.silentMs = MAX_STALL_MS + 1;
    expect(await desk.answer('/readyz')).toMatchObject({ status: 503 });
    expect(questions).toEqual(['readiness', 'metrics', 'readiness', 'metrics']);
  });

  it('stops waiting when the main thread becomes busy or cannot answer', async () => {
    const { desk, pulse } = opened();
    desk.learn({ metrics: 'made 1\n' });
    const first = desk.answer('/metrics');
    pulse.silentMs = BUSY_MS;
    expect(await first).toMatchObject({ status: 200 });
    pulse.silentMs = 0;
    const second = desk.answer('/metrics');
    desk.learn({ unknown: 'metrics' });
    expect(await second).toMatchObject({ status: 200 });
  });
});
