import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { texts } from '../../texts/texts.js';
import { BulkDialog } from './bulk-dialog.js';
import { OPERATIONS, type OperationName } from './operations.js';

const t = texts.instances;

/** Bulk operations on the selected instances. */
export function BulkBar({ uuids, onEnd }: { uuids: readonly string[]; onEnd: () => void }): JSX.Element {
  const [chosen, setChosen] = useState<{ name: OperationName; uuids: readonly string[] } | undefined>();
  return (
    <div class="bulk-bar" role="group" aria-label={t.bulk}>
      <span>{t.selected(uuids.length)}</span>
      {OPERATIONS.map((name) => (
        <Button
          key={name}
          kind={name === 'terminate' ? 'danger' : 'plain'}
          onClick={() => setChosen({ name, uuids })}
        >
          {t.operations[name]}
        </Button>
      ))}
      {chosen !== undefined && (
        <BulkDialog
          {...chosen}
          onClose={(wasRun) => {
            setChosen(undefined);
            if (wasRun) {
              onEnd();
            }
          }}
        />
      )}
    </div>
  );
}
