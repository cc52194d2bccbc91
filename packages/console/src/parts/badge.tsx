import type { ComponentChildren, JSX } from 'preact';
import { toneOf, type Tone } from './tones.js';

/** A short word with a colour. The word alone says it all. */
export function Badge({
  tone = 'quiet',
  children,
}: {
  tone?: Tone;
  children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

/** A state as the service names it. */
export function State({ of }: { of: string }): JSX.Element {
  return <Badge tone={toneOf(of)}>{of.toLowerCase().replaceAll('_', ' ')}</Badge>;
}
