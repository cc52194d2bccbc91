import { envSchema, type Settings } from './env.schema.js';
import { introspectionProblems } from './token-settings.js';
import { StartError } from './start.error.js';

/** Thrown when settings are missing or invalid. The message names variables and rules, never values. */
export class EnvError extends StartError {
  override readonly name: string = 'EnvError';
  /** Exit status of the process: 78 is EX_CONFIG of sysexits.h. */
  static readonly exitCode = 78;
  constructor(readonly problems: string[]) {
    super(`Wrong configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/**
 * Purpose of the process: production, evaluation by one person on one machine, or a command on the database. Commands
 * (migrations, key rotation) need no settings of the service.
 */
export type Mode = 'production' | 'evaluation' | 'maintenance';

const REQUIRED_IN_PRODUCTION = ['DATABASE_URL', 'OIDC_ISSUER', 'OIDC_AUDIENCE', 'SECRETS_KEYS'] as const;
const HTTPS_IN_PRODUCTION = ['OIDC_ISSUER', 'OIDC_INTROSPECTION_URL'];
const REFUSED_IN_EVALUATION = ['DATABASE_URL', 'OIDC_ISSUER', 'OIDC_AUDIENCE', 'OIDC_INTROSPECTION_URL'];

type NumberSetting = {
  [Name in keyof Settings]-?: Settings[Name] extends number ? Name : never;
}[keyof Settings];

/** A limit with its name, that of the setting if there is one. Error responses and metrics show both. */
export interface Limit {
  readonly name: string;
  /** 0 means no limit. */
  readonly max: number;
}

/**
 * The validated settings of the process, injected by class. The entry point (`main.ts` or `evaluation/main.ts`) chooses
 * `mode`; it is never guessed from missing settings.
 */
export class Env {
  private constructor(
    readonly mode: Mode,
    private readonly settings: Settings,
    private readonly variables: ReadonlyMap<string, string>,
    private readonly own: ReadonlySet<string>,
  ) {}

  /**
   * Reads and validates the settings.
   * @param given variables by name, as in `process.env`; an empty value counts as absent
   * @param defaults values of the entry point for absent variables
   * @throws EnvError naming every invalid or missing variable
   */
  static parse(
    mode: Mode,
    given: Record<string, string | undefined>,
    defaults: Record<string, string> = {},
  ): Env {
    const own = Object.entries(defaults).filter(([name]) => !given[name]);
    const source = { ...given, ...Object.fromEntries(own) };
    const variables = new Map(
      Object.entries(source).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    const present = Object.fromEntries([...variables].filter(([name]) => name in envSchema.shape));
    const { data, error } = envSchema.safeParse(present);
    const wrong = error?.issues.map(({ path, message }) => `${String(path[0])} ${message}`) ?? [];
    const problems = [...modeProblems(mode, present), ...wrong];
    if (data === undefined || problems.length > 0) {
      throw new EnvError([...new Set(problems)]);
    }
    return new Env(mode, data, variables, new Set(own.map(([name]) => name)));
  }

  /**
   * As `parse`, with the variables of this process.
   * @param defaults values of the entry point for absent variables
   */
  static fromProcess(mode: Mode, defaults: Record<string, string> = {}): Env {
    return Env.parse(mode, process.env, defaults);
  }

  get<Name extends keyof Settings>(name: Name): Settings[Name] {
    return this.settings[name];
  }

  /** Returns whether the value is a default of the entry point. */
  isEntryPointDefault(name: keyof Settings): boolean {
    return this.own.has(name);
  }

  limit(name: NumberSetting): Limit {
    return { name, max: this.settings[name] };
  }

  /** Returns any variable of the environment, for operators' files that name one. An empty one counts as absent. */
  variable(name: string): string | undefined {
    return this.variables.get(name);
  }

  /**
   * Returns the variables that begin with `prefix` and are longer than it, sorted by name. Operators choose their
   * names.
   */
  variablesFrom(prefix: string): { name: string; value: string }[] {
    return [...this.variables]
      .filter(([name]) => name.startsWith(prefix) && name !== prefix)
      .map(([name, value]) => ({ name, value }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  get isEvaluation(): boolean {
    return this.mode === 'evaluation';
  }
}

function modeProblems(mode: Mode, present: Record<string, unknown>): string[] {
  const { DATABASE_URL: database, NODE_ENV: kind } = present;
  const where = (names: readonly string[], isWrong: (value: unknown) => boolean, rule: string): string[] =>
    names.filter((name) => isWrong(present[name])).map((name) => `${name} ${rule}`);
  switch (mode) {
    case 'production':
      return [
        ...where(REQUIRED_IN_PRODUCTION, (value) => value === undefined, 'is required'),
        ...(String(database).startsWith('sqlite:') && kind !== 'test'
          ? ['DATABASE_URL must start with mysql:// or mariadb:// in production']
          : []),
        ...where(HTTPS_IN_PRODUCTION, isRemoteHttp, 'must start with https:// unless it is on this machine'),
        ...introspectionProblems(present),
        ...oneReceiverProblems(present),
        ...unencryptedSecrets(present),
      ];
    case 'evaluation':
      return [
        ...where(REFUSED_IN_EVALUATION, (value) => value !== undefined, 'must not be set in evaluation mode'),
        ...(kind === 'production' ? ['NODE_ENV must not be production in evaluation mode'] : []),
        ...unencryptedSecrets(present),
      ];
    case 'maintenance':
      return [];
  }
}

/** Secrets by the setting of the address that they are sent to. They leave this machine only encrypted. */
const SENT_SECRETS = {
  LLM_BASE_URL: 'LLM_API_KEY',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'OTEL_EXPORTER_OTLP_HEADERS',
} as const;

/** A unique index enforces the single receiver, and an index works only within one shard. */
function oneReceiverProblems(present: Readonly<Record<string, unknown>>): string[] {
  const { PROCESS_MESSAGE_ONE_RECEIVER: isStrict, DATABASE_SHARDS: shards = '1' } = present;
  return isStrict === 'true' && shards !== '1'
    ? ['PROCESS_MESSAGE_ONE_RECEIVER needs DATABASE_SHARDS=1']
    : [];
}

function unencryptedSecrets(present: Record<string, unknown>): string[] {
  return Object.entries(SENT_SECRETS)
    .filter(([address, secret]) => present[secret] !== undefined && isRemoteHttp(present[address]))
    .map(
      ([address, secret]) =>
        `${address} must start with https:// where ${secret} is set, unless it is on this machine`,
    );
}

/**
 * Returns whether an address is plain HTTP and not on this machine. An issuer must be an https URL (OpenID Connect
 * Discovery 1.0, section 3); tests use one on loopback.
 */
function isRemoteHttp(value: unknown): boolean {
  const url = String(value);
  return (
    URL.canParse(url) &&
    new URL(url).protocol === 'http:' &&
    !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
  );
}
