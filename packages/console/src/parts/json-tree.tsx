import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts/texts.js';

/** Number of members shown at first and added by each click. */
const CHUNK = 100;

/** JSON as a collapsible tree. Values are always rendered as text. */
export function JsonTree({
  value,
  name,
  openDepth = 1,
}: {
  value: unknown;
  name?: string;
  /** Number of levels expanded at first. */
  openDepth?: number;
}): JSX.Element {
  return (
    <div class="json">
      <Node value={value} name={name} openDepth={openDepth} />
    </div>
  );
}

function Node({
  value,
  name,
  openDepth,
}: {
  value: unknown;
  name: string | undefined;
  openDepth: number;
}): JSX.Element {
  const label = name === undefined ? null : <span class="json-name">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  // JSON has no undefined members, but some callers pass them.
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const size = Array.isArray(value) ? texts.parts.items(entries.length) : texts.parts.members(entries.length);
  return (
    <details open={openDepth > 0}>
      <summary>
        {label}
        <span class="quiet">{size}</span>
      </summary>
      <Members entries={entries} openDepth={openDepth - 1} />
    </details>
  );
}

function Members({ entries, openDepth }: { entries: [string, unknown][]; openDepth: number }): JSX.Element {
  const [shown, setShown] = useState(CHUNK);
  return (
    <div class="json-members">
      {entries.slice(0, shown).map(([name, value]) => (
        <Node key={name} name={name} value={value} openDepth={openDepth} />
      ))}
      {entries.length > shown && (
        <button type="button" class="button button-bare" onClick={() => setShown(shown + CHUNK)}>
          {texts.parts.more}
        </button>
      )}
    </div>
  );
}
