import { CreateTables, KEY, OPTIONAL, index, json, text, time, varchar } from './create-tables.js';

/** The audit log. */
export class CreateAudit1780000000001 extends CreateTables {
  override readonly name = 'CreateAudit1780000000001';
  override readonly tables = [
    {
      name: 'audit_events',
      columns: [
        varchar('id', 36, KEY),
        time('occurred_at'),
        varchar('action', 32),
        varchar('outcome', 16),
        varchar('app_id', 64),
        varchar('app_version_id', 64),
        varchar('system_resource_id', 64, OPTIONAL),
        varchar('tool_id', 64, OPTIONAL),
        varchar('actor_issuer', 255),
        varchar('actor_subject', 255),
        text('actor'),
        varchar('request_id', 64),
        varchar('caller_request_id', 64, OPTIONAL),
        json('details', OPTIONAL),
      ],
      indices: [
        index('ix_audit_events_version', ['app_id', 'app_version_id', 'id']),
        index('ix_audit_events_system', ['app_id', 'app_version_id', 'system_resource_id', 'id']),
        index('ix_audit_events_app', ['app_id', 'id']),
        index('ix_audit_events_action', ['app_id', 'action', 'id']),
        index('ix_audit_events_outcome', ['app_id', 'outcome', 'id']),
        index('ix_audit_events_actor', ['app_id', 'actor_subject', 'id']),
        index('ix_audit_events_system_app', ['app_id', 'system_resource_id', 'id']),
      ],
    },
  ];
}
