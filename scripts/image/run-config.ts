const PROBE =
  'fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT || 3000}/livez`)' +
  '.then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))';
const NODE = '/usr/local/bin/node';
const SECOND_NS = 1_000_000_000;

/**
 * How a container runs, in the words of the OCI image configuration; the last stage of the `Dockerfile` says the same. Other
 * commands replace `Cmd`, such as `dist/src/migration.cli.js run`.
 */
export const RUN_CONFIG = {
  /** Nobody's number on any host; it owns nothing in the image. */
  User: '65532:65532',
  WorkingDir: '/app',
  Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
  Entrypoint: [NODE, '--enable-source-maps', '--max-semi-space-size=64'],
  Cmd: ['dist/src/main.js'],
  ExposedPorts: { '3000/tcp': {} },
  StopSignal: 'SIGTERM',
  /** Known to Docker and Podman; Kubernetes asks by itself. */
  Healthcheck: {
    Test: ['CMD', NODE, '-e', PROBE],
    Interval: 10 * SECOND_NS,
    Timeout: 5 * SECOND_NS,
    StartPeriod: 120 * SECOND_NS,
    Retries: 3,
  },
};
