import type { ProbeFinding, ProbeWarning } from '../../model/probe.js';

type Connections = NonNullable<ProbeFinding['connections']>;

const NEARLY = 0.8;

/** Connections of a database, with a warning when four fifths of them are used. */
export function connectionsFinding(connections: Connections): {
  connections: Connections;
  warnings: ProbeWarning[];
} {
  const { active, idle, max } = connections;
  const used = active + idle;
  return {
    connections,
    warnings: used >= max * NEARLY ? [{ code: 'connections_nearly_used', used, max }] : [],
  };
}
