import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { texts } from '../../texts/texts.js';
import { BulkDialog } from './bulk-dialog.js';
import { OPERATIONS, type OperationName } from './operations.js';

const t = texts.instances;

/** What can be done to the instances that are chosen. */
export function BulkBar({ uuids, onEnd }: { uuids: readonly string[]; onEnd: () => void }): JSX.Element {
  const [asked, setAsked] = useState<{ name: OperationName; uuids: readonly string[] } | undefined>();
  return (
    <div class="bulk-bar" role="group" aria-label={t.bulk}>
      <span>{t.chosen(uuids.length)}</span>
      {OPERATIONS.map((name) => (
        <Button
          key={name}
          kind={name === 'terminate' ? 'danger' : 'plain'}
          onClick={() => setAsked({ name, uuids })}
        >
          {t.operations[name]}
        </Button>
      ))}
      {asked !== undefined && (
        <BulkDialog
          {...asked}
          onClose={(wasRun) => {
            setAsked(undefined);
            if (wasRun) {
              onEnd();
            }
          }}
        />
      )}
    </div>
  );
}
