import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.js';

/** Invalid text in a field. */
export interface Fault {
  /** Path of the field, as the service names it. */
  path: string;
  label: string;
  text: string;
}

/** Faults of a form. */
export interface Faults {
  /** Faults to show: none before the first attempt to submit. */
  shown: readonly Fault[];
  report: (path: string, fault: Fault | undefined) => void;
  /** Returns whether the form can be submitted. If not, faults are shown from now on. */
  validate: () => boolean;
}

/** Collects the faults of a form, so that it is not submitted without the invalid fields. */
export function useFaults(): Faults {
  const found = useRef(new Map<string, Fault>());
  const [shown, setShown] = useState<readonly Fault[]>([]);
  const isShown = useRef(false);
  const update = (): void => setShown(isShown.current ? [...found.current.values()] : []);
  return {
    shown,
    report: (path, fault) => {
      if (fault === undefined) {
        found.current.delete(path);
      } else {
        found.current.set(path, fault);
      }
      if (isShown.current) {
        update();
      }
    },
    validate: () => {
      isShown.current = found.current.size > 0;
      update();
      return !isShown.current;
    },
  };
}

/** Reports the fault of a field while the field is rendered. */
export function useFault(
  { report }: Faults,
  { path, label, text }: Omit<Fault, 'text'> & { text: string | undefined },
): void {
  useLayoutEffect(() => {
    report(path, text === undefined ? undefined : { path, label, text });
    return () => report(path, undefined);
  }, [path, label, text]);
}

/** Returns a submit handler that sends the form if it has no faults. */
export function submitHandler({ validate }: Faults, send: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    if (validate()) {
      void send();
    }
  };
}

/** Lists the faults of a form. */
export function FaultNote({ faults: { shown } }: { faults: Faults }): JSX.Element | null {
  return shown.length === 0 ? null : (
    <div class="note note-bad" role="alert">
      <p class="note-title">{texts.parts.notSent}</p>
      {shown.map(({ path, label, text }) => (
        <p key={path}>
          {label === path || path === '' ? label : `${label} (${path})`}: {text}
        </p>
      ))}
    </div>
  );
}
