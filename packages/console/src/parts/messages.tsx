import { signal } from '@preact/signals';
import type { JSX } from 'preact';

interface Message {
  id: number;
  text: string;
  tone: 'good' | 'bad';
}

/** How long a message is shown. */
const SHOWN_MS = 6_000;
const messages = signal<readonly Message[]>([]);
let count = 0;

/** Tells in a corner that something was done. What went wrong belongs beside what was tried, as an `ErrorNote`. */
export function say(text: string, tone: Message['tone'] = 'good'): void {
  const id = (count += 1);
  messages.value = [...messages.value, { id, text, tone }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.id !== id);
  }, SHOWN_MS);
}

/** Where messages are shown, and read aloud. One in the whole page. */
export function Messages(): JSX.Element {
  return (
    <div class="messages" role="status" aria-live="polite">
      {messages.value.map(({ id, text, tone }) => (
        <p key={id} class={`message message-${tone}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
