import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ServiceError, type OpenUiAction, type Task } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { ifMatch } from '../../live/versions.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { fieldErrors } from '../../parts/explain.js';
import { FaultNote, submitHandler, useFaults } from '../../parts/schema-form/faults.js';
import { initialValue, type Schema } from '../../parts/schema-form/schema.js';
import { SchemaForm } from '../../parts/schema-form/schema-form.js';
import { texts } from '../../texts/texts.js';
import { objectOf } from './bodies.js';

const t = texts.tasks;
const CHANGED = 412;

interface ActionFormProps {
  task: Task;
  action: OpenUiAction;
  onDone: () => void;
  /** Called if nothing was executed because the token has moved on. */
  onStale: () => void;
}

/** Form of a UI action. An idempotency key makes retries after a lost response safe. */
export function ActionForm({ task, action, onDone, onStale }: ActionFormProps): JSX.Element {
  const schema: Schema | null = action.bodySchema;
  const [value, setValue] = useState<unknown>(() => (schema === null ? {} : initialValue(schema)));
  const key = useRef(crypto.randomUUID());
  const faults = useFaults();
  const execute = useAction(async () => {
    try {
      await api().executeUiAction({
        path: {
          processUuid: task.processInstanceUuid,
          tokenUuid: task.tokenUuid,
          uiActionSvcUuid: action.svcUuid,
        },
        headers: {
          'Idempotency-Key': key.current,
          ...ifMatch(`"${task.visit}"`),
          ...(action.back ? { 'svc-back': 'true' as const } : {}),
        },
        body: objectOf(value),
      });
    } catch (error) {
      if (error instanceof ServiceError && error.status === CHANGED) {
        onStale();
        return;
      }
      throw error;
    }
    onDone();
  });
  const change = (next: unknown): void => {
    key.current = crypto.randomUUID();
    setValue(next);
  };
  return (
    <form class="stack" noValidate onSubmit={submitHandler(faults, execute.run)}>
      {schema === null ? (
        <details>
          <summary>{t.moreData}</summary>
          <SchemaForm schema={{}} value={value} onChange={change} faults={faults} />
        </details>
      ) : (
        <SchemaForm
          schema={schema}
          value={value}
          onChange={change}
          faults={faults}
          errors={fieldErrors(execute.error)}
        />
      )}
      <FaultNote faults={faults} />
      <ErrorNote error={execute.error} />
      <div>
        <Button type="submit" kind={action.back ? 'plain' : 'primary'} isBusy={execute.isBusy}>
          {action.name}
        </Button>
      </div>
    </form>
  );
}
