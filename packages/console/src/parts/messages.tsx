import { signal } from '@preact/signals';
import type { JSX } from 'preact';

interface Message {
  id: number;
  text: string;
  tone: 'good' | 'bad';
}

/** Display time of a message. */
const SHOWN_MS = 6_000;
const messages = signal<readonly Message[]>([]);
let count = 0;

/** Shows a short message in a corner. Errors belong next to the action instead, as an `ErrorNote`. */
export function notify(text: string, tone: Message['tone'] = 'good'): void {
  const id = (count += 1);
  messages.value = [...messages.value, { id, text, tone }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.id !== id);
  }, SHOWN_MS);
}

/** Live region for messages. Once per page. */
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
