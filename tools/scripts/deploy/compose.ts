import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Path of the compose file. */
export const COMPOSE_FILE = 'deploy/compose/compose.yaml';

/** The part of a service in the compose file that tests check. */
export interface ComposeService {
  image: string;
  build?: { context: string; dockerfile: string };
  environment: Record<string, string>;
  network_mode?: string;
  ports?: string[];
  read_only?: boolean;
  stop_grace_period?: string;
}

/** Values of an operator's `.env` whose format matters. All others get a placeholder. */
const FILLED_IN: Record<string, string> = {
  SECRETS_KEYS: `2026-01:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * Returns the services of the compose file by name, resolved like Compose: `${NAME:?…}` becomes a value as filled in by an
 * operator, `${NAME:-…}` its default.
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
