import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';
import { href } from '../app/router.js';
import { Button } from './button.js';
import { ButtonIcon } from './icon.js';
import { absoluteTime, duration, relativeTime } from './time.js';
import { notify } from './messages.js';
import type { Tone } from './tones.js';

/** Interval at which relative times are updated. */
const TICK_MS = 15_000;

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) {
    now.value = Date.now();
  }
}, TICK_MS);

/** Relative time, with the exact time as a tooltip. */
export function Moment({ at }: { at: string | null | undefined }): JSX.Element {
  if (at === null || at === undefined) {
    return <span class="quiet">{texts.parts.never}</span>;
  }
  const date = new Date(at);
  return (
    <time dateTime={at} title={absoluteTime(date)} class="is-tight">
      {relativeTime(date, Math.max(now.value, Date.now()))}
    </time>
  );
}

export function Duration({ ms }: { ms: number | null | undefined }): JSX.Element {
  return <span class="is-tight">{ms === null || ms === undefined ? '–' : duration(ms)}</span>;
}

/** Name and value. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** List of names and values. */
export function Facts({ facts }: { facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Large number, optionally linked. */
export function Figure({
  label,
  value,
  tone,
  note,
  to,
}: {
  label: string;
  value: ComponentChildren;
  tone?: Tone;
  note?: ComponentChildren;
  to?: string;
}): JSX.Element {
  const content = (
    <>
      <span class="figure-label">{label}</span>
      <span class="figure-value">{value}</span>
      {note !== undefined && <span class="figure-note">{note}</span>}
    </>
  );
  const names = classNames('figure', tone !== undefined && `figure-${tone}`);
  return to === undefined ? (
    <div class={names}>{content}</div>
  ) : (
    <a class={names} href={href(to)}>
      {content}
    </a>
  );
}

/** Identifier with a copy button. */
export function Id({ value }: { value: string }): JSX.Element {
  return (
    <span class="id">
      <code>{value}</code>
      <Button
        kind="bare"
        label={`${texts.parts.copy} ${value}`}
        onClick={async () => {
          await navigator.clipboard.writeText(value);
          notify(texts.parts.copied);
        }}
      >
        <ButtonIcon name="copy" />
      </Button>
    </span>
  );
}

/** Preformatted monospace text. */
export function Code({ children }: { children: string }): JSX.Element {
  return (
    <pre class="code-block" tabIndex={0}>
      <code>{children}</code>
    </pre>
  );
}
