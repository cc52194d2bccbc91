import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { StartableProcess } from '../../../../client/src/index.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { fieldErrors } from '../../parts/explain.js';
import { Select } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { Section } from '../../parts/page-head.js';
import { FaultNote, submitHandler, useFaults } from '../../parts/schema-form/faults.js';
import { initialValue, type Schema } from '../../parts/schema-form/schema.js';
import { SchemaForm } from '../../parts/schema-form/schema-form.js';
import { texts } from '../../texts/texts.js';
import { objectOf } from './bodies.js';

const t = texts.tasks;
/** Value of the `svc-platform` header. */
const PLATFORM = 'console';

interface StartFormProps {
  appId: string;
  buildId: string;
  process: StartableProcess;
}

/** Form that starts a process. */
export function StartForm({ appId, buildId, process }: StartFormProps): JSX.Element {
  const schema = (process.inputSchema ?? {}) as Schema;
  const conditions = process.starts.flatMap(({ startCondition, mayStart }) =>
    mayStart && startCondition !== null ? [startCondition] : [],
  );
  const [value, setValue] = useState<unknown>(() => initialValue(schema));
  const [condition, setCondition] = useState(conditions[0] ?? '');
  const key = useRef(crypto.randomUUID());
  const faults = useFaults();
  const start = useAction(async () => {
    const { data } = await api().startProcess({
      path: { appId, buildId, processDefinitionName: process.processDefinitionName },
      headers: { 'svc-platform': PLATFORM, 'Idempotency-Key': key.current },
      body: { ...objectOf(value), ...(condition === '' ? {} : { startCondition: condition }) },
    });
    notify(t.started);
    navigate(`/tasks/${data.uuid}`);
  });
  const changed = <T,>(set: (next: T) => void) => {
    return (next: T): void => {
      key.current = crypto.randomUUID();
      set(next);
    };
  };
  return (
    <Section title={t.startOf(process.processDefinitionName)}>
      <form class="stack" noValidate onSubmit={submitHandler(faults, start.run)}>
        {conditions.length > 0 && (
          <Select
            label={t.startCondition}
            value={condition}
            choices={conditions.map((each) => ({ value: each, title: each }))}
            onChange={changed(setCondition)}
          />
        )}
        <SchemaForm
          schema={schema}
          value={value}
          onChange={changed(setValue)}
          faults={faults}
          errors={fieldErrors(start.error)}
        />
        <FaultNote faults={faults} />
        <ErrorNote error={start.error} />
        <div>
          <Button type="submit" kind="primary" isBusy={start.isBusy}>
            {t.startNow}
          </Button>
        </div>
      </form>
    </Section>
  );
}
