import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';
import { ButtonIcon } from './icon.js';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Buttons at the bottom. */
  actions?: ComponentChildren;
  onClose: () => void;
  isWide?: boolean;
}

/** Modal dialog, open while it is rendered. The browser traps the focus and handles Escape. */
export function Dialog({ title, children, actions, onClose, isWide = false }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) {
        before.focus();
      }
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog is-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="bare" label={texts.parts.close} onClick={onClose}>
          <ButtonIcon name="close" />
        </Button>
      </div>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <div class="dialog-foot">{actions}</div>}
    </dialog>
  );
}

interface ConfirmDialogProps {
  title: string;
  /** What will happen. */
  children: ComponentChildren;
  /** Label of the confirming button. */
  confirm: string;
  isDangerous?: boolean;
  isBusy?: boolean;
  disabled?: boolean;
  error?: unknown;
  onConfirm: () => unknown;
  onClose: () => void;
}

/** Asks for confirmation of actions that cannot be undone or that affect others. */
export function ConfirmDialog(props: ConfirmDialogProps): JSX.Element {
  const { title, children, confirm, isDangerous = false, isBusy = false, disabled = false } = props;
  return (
    <Dialog
      title={title}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>{texts.parts.cancel}</Button>
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            disabled={disabled}
            onClick={props.onConfirm}
          >
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      <ErrorNote error={props.error} />
    </Dialog>
  );
}
