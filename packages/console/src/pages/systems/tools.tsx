import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ToolResponse } from '../../../../client/src/index.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Switch } from '../../parts/fields.js';
import { LongTable } from '../../parts/long-table.js';
import { notify } from '../../parts/messages.js';
import { Empty } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import type { Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import type { KnownSystem } from './system.types.js';
import { ToolDialog } from './tool-dialog.js';
import { useSwitches } from './use-switches.js';

const { systems } = texts;
/** Maximum length of a description in the table. */
const MAX_DESCRIPTION = 240;

interface ToolsProps {
  known: KnownSystem;
  reload: () => void;
}

/** Tools of a system with their switches. */
export function Tools({ known, reload }: ToolsProps): JSX.Element {
  const [opened, setOpened] = useState<ToolResponse>();
  const { system } = known;
  const { change, busy, error } = useChanges(known, reload);
  const columns: readonly Column<ToolResponse>[] = [
    {
      title: systems.tool,
      cell: (tool) => (
        <Button kind="bare" onClick={() => setOpened(tool)}>
          {tool.name}
        </Button>
      ),
    },
    {
      title: systems.serverDescription,
      cell: ({ description }) => shortened(description),
      isExtra: true,
      isText: true,
    },
    {
      title: systems.enabled,
      cell: (tool) => (
        <Switch
          label={systems.toolSwitch(tool.name)}
          isOn={tool.enabled}
          disabled={busy.has(tool.id)}
          onChange={(enabled) => void change(tool, enabled)}
        />
      ),
      isTight: true,
    },
  ];
  return (
    <Section title={systems.tools} isFlush>
      <ErrorNote error={error} />
      <LongTable
        caption={systems.tools}
        columns={columns}
        rows={system.tools}
        keyOf={({ id }) => id}
        textOf={({ name, description }) => `${name}\n${description}`}
        empty={<Empty title={systems.noTools} />}
      />
      {opened !== undefined && (
        <ToolDialog known={known} tool={opened} onClose={() => setOpened(undefined)} />
      )}
    </Section>
  );
}

/** Switches tools. Returns the tools being switched and the last error. */
function useChanges(
  { path, system, version }: KnownSystem,
  reload: () => void,
): {
  change: (tool: ToolResponse, enabled: boolean) => Promise<void>;
  busy: ReadonlySet<string>;
  error: unknown;
} {
  const switches = useSwitches({ ...path, systemId: system.id }, version);
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<unknown>();
  const change = async ({ id }: ToolResponse, enabled: boolean): Promise<void> => {
    setBusy((before) => new Set([...before, id]));
    setError(undefined);
    try {
      const { message, affectedNodes } = await switches.switch(id, enabled);
      notify(systems.affected(message, affectedNodes.length));
    } catch (refused) {
      setError(refused);
    }
    setBusy((before) => new Set([...before].filter((each) => each !== id)));
    reload();
  };
  return { change, busy, error };
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
}
