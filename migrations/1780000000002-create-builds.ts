import {
  CreateTables,
  KEY,
  OPTIONAL,
  bigint,
  boolean,
  index,
  integer,
  json,
  text,
  time,
  unique,
  varchar,
} from './create-tables.js';

/** Application packages, builds with their contents, and the active build of each application. */
export class CreateBuilds1780000000002 extends CreateTables {
  override readonly name = 'CreateBuilds1780000000002';
  override readonly tables = [
    {
      name: 'app_packages',
      columns: [
        varchar('app_id', 64, KEY),
        varchar('app_version_id', 64, KEY),
        varchar('checksum', 64),
        json('document'),
        json('workflows'),
        time('stored_at'),
        text('stored_by'),
      ],
    },
    {
      name: 'builds',
      columns: [
        varchar('build_id', 36, KEY),
        varchar('app_id', 64),
        varchar('app_version_id', 64),
        varchar('status', 16),
        varchar('checksum', 64),
        json('settings'),
        json('usable_by', OPTIONAL),
        json('systems_usable_by', OPTIONAL),
        time('created_at'),
        text('created_by'),
        time('activated_at', OPTIONAL),
      ],
      indices: [
        index('ix_builds_app', ['app_id', 'build_id']),
        index('ix_builds_version', ['app_version_id', 'app_id']),
      ],
    },
    {
      name: 'build_repeats',
      columns: [varchar('key_hash', 64, KEY), varchar('build_id', 36), time('created_at')],
      indices: [index('ix_build_repeats_created', ['created_at'])],
    },
    {
      name: 'build_libraries',
      columns: [
        varchar('build_id', 36, KEY),
        varchar('library_app_id', 64, KEY),
        varchar('library_build_id', 36),
        integer('level'),
      ],
    },
    {
      name: 'build_definitions',
      columns: [
        bigint('id', KEY),
        varchar('build_id', 36),
        varchar('name', 255),
        varchar('svc_uuid', 64),
        varchar('resource_id', 36),
        varchar('file', 255),
        json('graph'),
        json('bpmn'),
      ],
      indices: [unique('uq_build_definitions_name', ['build_id', 'name'])],
    },
    {
      name: 'build_workflows',
      columns: [
        varchar('build_id', 36, KEY),
        varchar('name', 255, KEY),
        varchar('resource_id', 36),
        varchar('resource_definition_id', 36),
        json('definition'),
      ],
    },
    {
      name: 'build_systems',
      columns: [
        varchar('build_id', 36, KEY),
        varchar('resource_definition_id', 36, KEY),
        varchar('system_id', 36),
        varchar('resource_id', 36),
        varchar('type', 16),
        varchar('resource_name', 255),
        varchar('name', 255),
        varchar('description', 2000),
        varchar('base_url', 2048, OPTIONAL),
        varchar('authorization_type', 16, OPTIONAL),
        varchar('client_id', 255, OPTIONAL),
        varchar('identity_provider_url', 2048, OPTIONAL),
      ],
    },
    {
      name: 'build_tools',
      columns: [
        varchar('build_id', 36, KEY),
        varchar('tool_id', 36, KEY),
        varchar('system_id', 36),
        varchar('name', 128),
        varchar('title', 255, OPTIONAL),
        text('description'),
        text('input_schema'),
        text('output_schema', OPTIONAL),
        text('annotations', OPTIONAL),
        varchar('definition_hash', 64),
        boolean('enabled'),
        integer('position'),
      ],
      indices: [index('ix_build_tools_system', ['build_id', 'system_id'])],
    },
    {
      name: 'process_nodes',
      columns: [
        bigint('id', KEY),
        varchar('definition_svc_uuid', 64),
        varchar('node_svc_uuid', 64),
        varchar('bpmn_id', 255),
      ],
      indices: [unique('uq_process_nodes_node', ['definition_svc_uuid', 'node_svc_uuid'])],
    },
    {
      name: 'active_builds',
      columns: [
        varchar('app_id', 64, KEY),
        varchar('build_id', 36, OPTIONAL),
        time('activated_at', OPTIONAL),
        text('activated_by', OPTIONAL),
      ],
    },
  ];
}
