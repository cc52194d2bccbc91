import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The compose file that operators start from. */
export const COMPOSE_FILE = 'deploy/compose/compose.yaml';

/** A service of the compose file, as far as tests look at it. */
export interface ComposeService {
  image: string;
  environment: Record<string, string>;
  network_mode?: string;
  ports?: string[];
  read_only?: boolean;
  stop_grace_period?: string;
}

/** What an operator writes into `.env`. What is not named here has a value that is no rule's business. */
const FILLED_IN: Record<string, string> = {
  SECRETS_KEYS: `2026-01:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * The services of the compose file by name, as Compose would read them: `${NAME:?…}` is a value that an operator might fill in,
 * `${NAME:-…}` the default.
 */
export function composeServices(): Record<string, ComposeService> {
  const fill = (_key: unknown, value: unknown): unknown =>
    typeof value === 'string' ? value.replaceAll(/(?<!\$)\$\{([A-Z_]+):([?-])([^}]*)\}/g, filledIn) : value;
  const { services } = parse(readFileSync(COMPOSE_FILE, 'utf8'), fill) as {
    services: Record<string, ComposeService>;
  };
  return services;
}

function filledIn(_variable: string, name: string, sign: string, rest: string): string {
  return sign === '-' ? rest : (FILLED_IN[name] ?? 'filled-in');
}
