import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.js';

/** A field whose text is no value: nothing of it can be sent. */
export interface Fault {
  /** Of its member, as the service names it. */
  path: string;
  label: string;
  text: string;
}

/** Fields of a form that hold no value. */
export interface Faults {
  /** What is told: nothing before somebody has tried to send the form. */
  told: readonly Fault[];
  note: (path: string, fault: Fault | undefined) => void;
  /** Whether the form can be sent; where it cannot, what is wrong is told from now on. */
  allow: () => boolean;
}

/** What keeps a form from being sent: what stands in its fields would be left out otherwise. */
export function useFaults(): Faults {
  const found = useRef(new Map<string, Fault>());
  const [told, setTold] = useState<readonly Fault[]>([]);
  const isTold = useRef(false);
  const tell = (): void => setTold(isTold.current ? [...found.current.values()] : []);
  return {
    told,
    note: (path, fault) => {
      if (fault === undefined) {
        found.current.delete(path);
      } else {
        found.current.set(path, fault);
      }
      if (isTold.current) {
        tell();
      }
    },
    allow: () => {
      isTold.current = found.current.size > 0;
      tell();
      return !isTold.current;
    },
  };
}

/** Notes what is wrong with the text of a field, as long as it is there. */
export function useFault(
  { note }: Faults,
  { path, label, text }: Omit<Fault, 'text'> & { text: string | undefined },
): void {
  useLayoutEffect(() => {
    note(path, text === undefined ? undefined : { path, label, text });
    return () => note(path, undefined);
  }, [path, label, text]);
}

/** What sends a form, unless a field of it holds no value. */
export function sending({ allow }: Faults, send: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    if (allow()) {
      void send();
    }
  };
}

/** Says which fields keep a form from being sent. */
export function FaultNote({ faults: { told } }: { faults: Faults }): JSX.Element | null {
  return told.length === 0 ? null : (
    <div class="note note-bad" role="alert">
      <p class="note-title">{texts.parts.notSent}</p>
      {told.map(({ path, label, text }) => (
        <p key={path}>
          {label === path || path === '' ? label : `${label} (${path})`}: {text}
        </p>
      ))}
    </div>
  );
}
