import type { ComponentChildren, JSX } from 'preact';
import { toneOf, type Tone } from './tones.js';

/** Short word with a color. The word carries the whole meaning. */
export function Badge({
  tone = 'quiet',
  children,
}: {
  tone?: Tone;
  children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

/** Badge for a state of the service. */
export function State({ of }: { of: string }): JSX.Element {
  return <Badge tone={toneOf(of)}>{of.toLowerCase().replaceAll('_', ' ')}</Badge>;
}
