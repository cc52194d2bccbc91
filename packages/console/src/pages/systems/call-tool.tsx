import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ToolCallResponse, ToolResponse } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Code } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Note } from '../../parts/notes.js';
import { FaultNote, submitHandler, useFaults } from '../../parts/schema-form/faults.js';
import { SchemaForm } from '../../parts/schema-form/schema-form.js';
import { initialValue, type Schema } from '../../parts/schema-form/schema.js';
import { duration } from '../../parts/time.js';
import { texts } from '../../texts/texts.js';
import type { KnownSystem } from './system.types.js';

const { systems } = texts;
const TONES = { OK: 'good', TOOL_ERROR: 'warn', FAILED: 'bad' } as const;

/** Form that calls a tool, generated from its input schema. */
export function CallTool({ known, tool }: { known: KnownSystem; tool: ToolResponse }): JSX.Element {
  const schema = tool.inputSchema as Schema;
  const [args, setArgs] = useState<unknown>(() => initialValue(schema) ?? {});
  const [answer, setAnswer] = useState<ToolCallResponse>();
  const faults = useFaults();
  const call = useAction(async () => {
    setAnswer(undefined);
    const { data } = await api().callTool({
      path: { ...known.path, systemId: known.system.id, toolId: tool.id },
      body: (args ?? {}) as Record<string, unknown>,
    });
    setAnswer(data);
  });
  return (
    <>
      <Note tone="warn">
        <p>{systems.callLead}</p>
      </Note>
      <form class="form" onSubmit={submitHandler(faults, call.run)}>
        <SchemaForm schema={schema} value={args} onChange={setArgs} faults={faults} />
        <FaultNote faults={faults} />
        <div class="form-foot">
          <Button kind="primary" type="submit" isBusy={call.isBusy}>
            {systems.call}
          </Button>
        </div>
      </form>
      <ErrorNote error={call.error} />
      {answer !== undefined && <Answer answer={answer} />}
    </>
  );
}

function Answer({ answer }: { answer: ToolCallResponse }): JSX.Element {
  const { outcome, message, mayHaveRun, text, structured, latencyMs } = answer;
  return (
    <div class="stack" role="status">
      <p>
        <Badge tone={TONES[outcome]}>{systems.callOutcomes[outcome]}</Badge>{' '}
        <span class="quiet">{systems.took(duration(latencyMs))}</span>
      </p>
      {message !== null && <p>{message}</p>}
      {mayHaveRun !== null && <p>{mayHaveRun ? systems.mayHaveRun : systems.hasNotRun}</p>}
      {text !== '' && <Code>{text}</Code>}
      {structured !== null && <JsonTree name={systems.structured} value={structured} openDepth={3} />}
    </div>
  );
}
