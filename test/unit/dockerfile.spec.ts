import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUN_CONFIG } from '../../scripts/image/run-config.js';

const text = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', ' ');
const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
const valuesOf = (name: string): string[] =>
  last.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
const listOf = (name: string): unknown => JSON.parse(valuesOf(name)[0] ?? 'null');
const pins = JSON.parse(readFileSync('deploy/image/base.json', 'utf8')) as {
  suite: string;
  node: { version: string };
};

describe('the Dockerfile', () => {
  it('runs a container as the image made without an engine does', () => {
    const [options = '', test = ''] = (valuesOf('HEALTHCHECK')[0] ?? '').split(' CMD ');
    const { Healthcheck: health, ...run } = RUN_CONFIG;
    expect({
      User: valuesOf('USER')[0],
      WorkingDir: valuesOf('WORKDIR')[0],
      Env: valuesOf('ENV'),
      Entrypoint: listOf('ENTRYPOINT'),
      Cmd: listOf('CMD'),
      ExposedPorts: { [valuesOf('EXPOSE')[0] ?? '']: {} },
      StopSignal: valuesOf('STOPSIGNAL')[0],
    }).toEqual(run);
    expect(['CMD', ...(JSON.parse(test) as string[])]).toEqual(health.Test);
    const seconds = [...options.matchAll(/--(interval|timeout|start-period)=(\d+)s/g)].map(
      (found) => Number(found[2]) * 1e9,
    );
    expect(seconds).toEqual([health.Interval, health.Timeout, health.StartPeriod]);
    expect(options).toContain(`--retries=${health.Retries}`);
  });

  it('takes the version of Node that is pinned and developed with, on the pinned suite', () => {
    expect(lines[0]).toBe(`FROM node:${pins.node.version}-${pins.suite}-slim AS build`);
    expect(readFileSync('.nvmrc', 'utf8').trim()).toBe(pins.node.version);
  });

  it('copies files that are there', () => {
    const copied = lines
      .filter((line) => /^COPY (?!--)/.test(line))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  });
});
