import type { JSX } from 'preact';
import type { ApplicationAuditEvent, ToolResponse } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Moment } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { say } from '../../parts/messages.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { SideBySide } from '../../parts/side-by-side.js';
import { texts } from '../../texts/texts.js';
import { ReviewAll } from './review-all.js';
import type { SystemPath } from './system-paths.js';
import type { KnownSystem } from './system.types.js';
import {
  definitionBefore,
  hiddenChanges,
  toReview,
  type Definition,
  type FieldChange,
  type ToReview,
} from './tool-review.js';

const { systems } = texts;
const EVENTS_READ = 100;
const SYNCHRONISATIONS_READ = 20;
/** Drawn at once; a decision makes room for the next. */
const SHOWN = 20;

interface ReviewProps {
  known: KnownSystem;
  /** Tools as they were before the test that was made last in this page. */
  before: readonly ToolResponse[];
  reload: () => void;
}

/** What is to be decided about tools: those that are new or changed since somebody looked at them. */
export function Review({ known, before, reload }: ReviewProps): JSX.Element {
  const { path, system } = known;
  const events = useAnswer((signal) => eventsOf(path, signal), [...Object.values(path), system.modifiedDate]);
  const decided = (): void => {
    events.reload();
    reload();
  };
  return (
    <Shown answer={events}>
      {(found) => {
        const waiting = toReview(system.tools, found);
        return waiting.length === 0 ? (
          <Empty title={systems.nothingToReview} />
        ) : (
          <>
            <p class="lead">{systems.reviewLead}</p>
            {waiting.length > 1 && (
              <ReviewAll path={path} shown={waiting.slice(0, SHOWN)} decided={decided} />
            )}
            {waiting.slice(0, SHOWN).map((one) => (
              <OneTool
                key={one.tool.id}
                known={known}
                one={one}
                before={before.find(({ id }) => id === one.tool.id)}
                decided={decided}
              />
            ))}
            {waiting.length > SHOWN && <p class="quiet">{texts.parts.shownOf(SHOWN, waiting.length)}</p>}
          </>
        );
      }}
    </Shown>
  );
}

interface OneToolProps {
  known: KnownSystem;
  one: ToReview;
  before: ToolResponse | undefined;
  decided: () => void;
}

function OneTool({ known, one, before, decided }: OneToolProps): JSX.Element {
  const { tool, found, at, takenOverFrom } = one;
  const decide = useAction(async (enabled: boolean) => {
    await api().switchTool({
      path: { ...known.path, systemId: known.system.id, toolId: tool.id },
      // Nobody decides about another definition than the one that is shown.
      headers: { 'If-Match': known.tag },
      body: { enabled },
    });
    say(systems.decided);
    decided();
  });
  return (
    <Section
      title={tool.name}
      actions={
        <>
          <Button kind="primary" isBusy={decide.isBusy} onClick={() => decide.run(true)}>
            {systems.allow}
          </Button>
          <Button isBusy={decide.isBusy} onClick={() => decide.run(false)}>
            {systems.refuse}
          </Button>
        </>
      }
    >
      <p>
        <Badge tone={found === 'changed' ? 'warn' : 'busy'}>{systems.found[found]}</Badge>{' '}
        <Badge tone={tool.enabled ? 'good' : 'quiet'}>{tool.enabled ? systems.isOn : systems.isOff}</Badge>{' '}
        <span class="quiet">
          {systems.foundAt} <Moment at={at} />
        </span>
      </p>
      {takenOverFrom !== null && <p>{systems.takenOver(takenOverFrom)}</p>}
      <ErrorNote error={decide.error} retry={decided} />
      {found === 'changed' ? <Changed one={one} known={before} /> : <Whole tool={tool} />}
    </Section>
  );
}

function Whole({ tool }: { tool: ToolResponse }): JSX.Element {
  return (
    <>
      <p class="preserved">{tool.description}</p>
      <JsonTree name={systems.inputSchema} value={tool.inputSchema} openDepth={2} />
    </>
  );
}

/** What was before is known from the test that was just made, or from the audit log as far as that has kept it. */
function Changed({
  one: { tool, changes },
  known,
}: {
  one: ToReview;
  known: ToolResponse | undefined;
}): JSX.Element {
  const isKnown =
    known !== undefined && schemasOf(known) + known.description !== schemasOf(tool) + tool.description;
  const before = isKnown ? known : definitionBefore(tool, changes);
  if (before !== undefined) {
    return (
      <>
        {before.description !== tool.description && (
          <SideBySide
            label={systems.descriptionOf(tool.name)}
            before={before.description}
            after={tool.description}
          />
        )}
        <SideBySide label={systems.schemaOf(tool.name)} before={schemasOf(before)} after={schemasOf(tool)} />
        <Listed label={systems.definitionOf(tool.name)} changes={hiddenChanges(changes)} />
      </>
    );
  }
  return changes.length === 0 ? (
    <>
      <p class="quiet">{systems.unknownBefore}</p>
      <Whole tool={tool} />
    </>
  ) : (
    <>
      <p class="quiet">{systems.partOnly}</p>
      <Listed label={systems.definitionOf(tool.name)} changes={changes} />
    </>
  );
}

/** Changes one by one, as the audit log tells them. */
function Listed({ label, changes }: { label: string; changes: readonly FieldChange[] }): JSX.Element | null {
  return changes.length === 0 ? null : (
    <SideBySide
      label={label}
      before={changes.map(({ path, before }) => `${path}: ${before ?? '–'}`).join('\n')}
      after={changes.map(({ path, after }) => `${path}: ${after ?? '–'}`).join('\n')}
    />
  );
}

function schemasOf({ inputSchema, outputSchema }: Definition): string {
  const hasOutput = Object.keys(outputSchema).length > 0;
  return JSON.stringify(hasOutput ? { inputSchema, outputSchema } : { inputSchema }, null, 2);
}

/** Newest first. */
async function eventsOf(
  { appId, versionId, systemResourceId }: SystemPath,
  signal: AbortSignal,
): Promise<ApplicationAuditEvent[]> {
  const read = async (
    action: ApplicationAuditEvent['action'],
    limit: number,
  ): Promise<ApplicationAuditEvent[]> => {
    const query = { systemResourceId, applicationVersionId: versionId, action, limit };
    return (await api().listApplicationAuditEvents({ path: { appId }, query, signal })).data.events;
  };
  const found = await Promise.all([
    read('tools.sync', SYNCHRONISATIONS_READ),
    read('tool.switch', EVENTS_READ),
  ]);
  return found.flat().toSorted((one, other) => other.id.localeCompare(one.id));
}
