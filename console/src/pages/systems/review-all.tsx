import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ToolResponse } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { explain } from '../../parts/explain.js';
import { Note } from '../../parts/notes.js';
import { texts } from '../../texts/texts.js';
import type { SystemPath } from './system-paths.js';
import type { ToReview } from './tool-review.js';

const { systems } = texts;

interface ReviewAllProps {
  path: SystemPath;
  shown: readonly ToReview[];
  decided: () => void;
}

/** A tool about which nothing was decided, and why. */
interface NotDecided {
  name: string;
  reason: string;
}

/** Decides about all tools that are shown, one after the other; what came of each is told. */
export function ReviewAll({ path, shown, decided }: ReviewAllProps): JSX.Element {
  const [asked, setAsked] = useState<boolean>();
  const [count, setCount] = useState(0);
  const [others, setOthers] = useState<readonly NotDecided[]>([]);
  const run = useAction(async (enabled: boolean) => {
    const left: NotDecided[] = [];
    setCount(0);
    for (const [index, { tool }] of shown.entries()) {
      const reason = await decide(path, tool, enabled);
      if (reason !== undefined) {
        left.push({ name: tool.name, reason });
      }
      setCount(index + 1);
    }
    setOthers(left);
    setAsked(undefined);
    decided();
  });
  return (
    <>
      <div class="form-foot">
        <Button onClick={() => setAsked(true)}>{systems.allowAll(shown.length)}</Button>
        <Button onClick={() => setAsked(false)}>{systems.refuseAll(shown.length)}</Button>
      </div>
      {others.length > 0 && (
        <Note tone="warn" title={systems.notDecided}>
          {others.map(({ name, reason }) => (
            <p key={name}>
              {name}: {reason}
            </p>
          ))}
        </Note>
      )}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked ? systems.allowAll(shown.length) : systems.refuseAll(shown.length)}
          confirm={asked ? systems.allow : systems.refuse}
          isBusy={run.isBusy}
          error={run.error}
          onConfirm={() => run.run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>{shown.map(({ tool }) => tool.name).join(', ')}</p>
          <p role="status">{run.isBusy && texts.parts.shownOf(count, shown.length)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** @returns why nothing was decided; undefined when it was */
async function decide(path: SystemPath, shown: ToolResponse, enabled: boolean): Promise<string | undefined> {
  try {
    const { data, response } = await api().getSystem({ path });
    const now = data.tools.find(({ id }) => id === shown.id);
    if (now === undefined || definitionOf(now) !== definitionOf(shown)) {
      return systems.otherNow;
    }
    const tag = response.headers.get('etag');
    await api().switchTool({
      path: { ...path, systemId: data.id, toolId: shown.id },
      ...(tag === null ? {} : { headers: { 'If-Match': tag } }),
      body: { enabled },
    });
    return undefined;
  } catch (error) {
    const { title, said = '' } = explain(error);
    return `${title}. ${said}`;
  }
}

function definitionOf({ description, inputSchema, outputSchema }: ToolResponse): string {
  return JSON.stringify([description, inputSchema, outputSchema]);
}
