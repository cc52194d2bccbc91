import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { may } from '../../app/permissions.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { explain } from '../../parts/explain.js';
import { Table, type Column } from '../../parts/table.js';
import type { Tone } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';
import type { OperationName } from './operations.js';
import { PatchEditor, patchOf } from './patch-editor.js';
import { useBulk, type Bulk, type BulkState } from './use-bulk.js';

const t = texts.instances;

interface BulkDialogProps {
  name: OperationName;
  uuids: readonly string[];
  onClose: (wasRun: boolean) => void;
}

/** Confirms a bulk operation, runs it, and shows the outcome of each instance. */
export function BulkDialog({ name, uuids, onClose }: BulkDialogProps): JSX.Element {
  const [patch, setPatch] = useState('{}');
  const bulk = useBulk(uuids);
  const data = name === 'retry' ? patchOf(patch) : {};
  const isBefore = !bulk.isRunning && !bulk.isOver;
  return (
    <Dialog
      title={t.bulkTitle(t.operations[name], uuids.length)}
      isWide
      onClose={() => {
        bulk.stop();
        onClose(!isBefore);
      }}
      actions={
        isBefore ? (
          <>
            <Button onClick={() => onClose(false)}>{texts.parts.cancel}</Button>
            <Button
              kind={name === 'terminate' ? 'danger' : 'primary'}
              disabled={data === undefined}
              onClick={() => bulk.run(name, data)}
            >
              {t.bulkTitle(t.operations[name], uuids.length)}
            </Button>
          </>
        ) : (
          <BulkButtons bulk={bulk} onClose={() => onClose(true)} />
        )
      }
    >
      <p>{t.effects[name]}</p>
      {name === 'retry' && isBefore && may('process-data') && (
        <PatchEditor text={patch} onChange={setPatch} />
      )}
      {!isBefore && <Outcomes uuids={uuids} bulk={bulk} />}
    </Dialog>
  );
}

function BulkButtons({ bulk, onClose }: { bulk: Bulk; onClose: () => void }): JSX.Element {
  return bulk.isRunning ? (
    <Button onClick={bulk.stop}>{t.stopBulk}</Button>
  ) : (
    <Button kind="primary" onClick={onClose}>
      {texts.parts.close}
    </Button>
  );
}

interface Row {
  uuid: string;
  state: BulkState;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: t.instance, cell: ({ uuid }) => <code>{uuid}</code> },
  { title: t.outcome, cell: ({ state }) => <Outcome of={state} />, isText: true },
];

function Outcomes({ uuids, bulk }: { uuids: readonly string[]; bulk: Bulk }): JSX.Element {
  const rows = uuids.map((uuid) => ({
    uuid,
    state: bulk.states.get(uuid) ?? { is: 'waiting' as const },
  }));
  const count = (...states: BulkState['is'][]): number =>
    rows.filter(({ state }) => states.includes(state.is)).length;
  return (
    <>
      <progress max={uuids.length} value={count('done', 'failed', 'skipped')} aria-label={t.progress} />
      <p role="status">
        {t.counted(count('done'), count('failed'), count('waiting', 'busy'), count('skipped'))}
      </p>
      {bulk.restSeconds > 0 && <p role="status">{t.resting(bulk.restSeconds)}</p>}
      <Table caption={t.outcomesTitle} columns={COLUMNS} rows={rows} keyOf={({ uuid }) => uuid} />
    </>
  );
}

function Outcome({ of }: { of: BulkState }): JSX.Element {
  const { tone, word, text } = badgeOf(of);
  return (
    <>
      <Badge tone={tone}>{word}</Badge> {text}
    </>
  );
}

function badgeOf(state: BulkState): { tone: Tone; word: string; text: string } {
  switch (state.is) {
    case 'waiting':
      return { tone: 'quiet', word: t.bulkStates.waiting, text: '' };
    case 'busy':
      return { tone: 'busy', word: t.bulkStates.busy, text: '' };
    case 'skipped':
      return { tone: 'quiet', word: t.bulkStates.skipped, text: '' };
    case 'done': {
      const { text, isPartly } = state.done;
      return isPartly
        ? { tone: 'warn', word: t.bulkStates.partly, text }
        : { tone: 'good', word: t.bulkStates.done, text };
    }
    case 'failed': {
      const { title, message, advice } = explain(state.error);
      return { tone: 'bad', word: t.bulkStates.failed, text: `${message ?? title} ${advice}` };
    }
  }
}
