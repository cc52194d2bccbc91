import { describe, expect, it } from 'vitest';
import { multipleWritersProblem } from './start-checks.js';

const GROUP = { group_replication_group_name: '8c6a0e1e-0000-4000-8000-000000000000' };

describe('multipleWritersProblem', () => {
  it.each<[string, Record<string, string>]>([
    ['a single server', {}],
    ['MariaDB without Galera', { wsrep_on: 'OFF' }],
    ['the only node of Galera', { wsrep_on: 'ON', wsrep_cluster_size: '1' }],
    ['a node without a cluster', { wsrep_on: 'ON', wsrep_cluster_size: '0' }],
    ['a group with one primary', { ...GROUP, group_replication_single_primary_mode: 'ON' }],
    [
      'the plugin without a group',
      { group_replication_group_name: '', group_replication_single_primary_mode: 'OFF' },
    ],
  ])('accepts %s', (_name, values) => {
    expect(multipleWritersProblem(new Map(Object.entries(values)))).toBeUndefined();
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'a group with several primaries',
      { ...GROUP, group_replication_single_primary_mode: 'OFF' },
      'group_replication_single_primary_mode',
    ],
    ['two nodes of Galera', { wsrep_on: 'ON', wsrep_cluster_size: '2' }, 'wsrep_cluster_size'],
  ])('rejects %s and names the variable', (_name, values, variable) => {
    const problem = multipleWritersProblem(new Map(Object.entries(values)));
    expect(problem).toContain(variable);
    expect(problem).not.toContain(GROUP.group_replication_group_name);
  });
});
