-- Fills in the shards of rows that were written before these tables had one. MySQL and MariaDB.
UPDATE process_families SET shard = root_id % 256;
UPDATE process_messages SET shard = CONV(LEFT(wait_key, 2), 16, 10);
UPDATE process_repeats SET shard = CONV(LEFT(key_hash, 2), 16, 10) WHERE shard = 0;
UPDATE workflow_runs run JOIN process_instances instance ON instance.uuid = run.process_instance_uuid SET run.shard = instance.shard;
UPDATE workflow_calls run_call JOIN workflow_runs run ON run.id = run_call.run_id SET run_call.shard = run.shard;
-- Each start of a replica adds it in the shard where it belongs.
DELETE FROM runtime_jobs WHERE kind = 'PROCESS_CLEANUP';
