import type { ComponentChildren, JSX } from 'preact';
import { href } from '../app/router.js';
import { classNames } from './class-names.js';

/** How a button looks: one of a page may be `primary`; `danger` ends or removes something. */
export type ButtonKind = 'plain' | 'primary' | 'danger' | 'bare';

interface ButtonProps {
  children: ComponentChildren;
  kind?: ButtonKind;
  onClick?: () => unknown;
  type?: 'button' | 'submit';
  disabled?: boolean;
  /** Its work is under way. */
  isBusy?: boolean;
  /** What it is called where its content is no text. */
  label?: string;
  isPressed?: boolean;
}

/** A button. */
export function Button(props: ButtonProps): JSX.Element {
  const { children, kind = 'plain', onClick, type = 'button', disabled = false, isBusy = false } = props;
  return (
    <button
      type={type}
      class={classNames('button', `button-${kind}`, isBusy && 'is-busy')}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
      {...(onClick === undefined ? {} : { onClick: () => void onClick() })}
      {...(props.label === undefined ? {} : { 'aria-label': props.label, title: props.label })}
      {...(props.isPressed === undefined ? {} : { 'aria-pressed': props.isPressed })}
    >
      {children}
    </button>
  );
}

/** A link to a place of the console. */
export function Link({
  to,
  children,
  kind,
}: {
  to: string;
  children: ComponentChildren;
  kind?: ButtonKind;
}): JSX.Element {
  return (
    <a href={href(to)} class={kind === undefined ? 'link' : classNames('button', `button-${kind}`)}>
      {children}
    </a>
  );
}

/** A link that leads out of the console, in a tab of its own. */
export function OuterLink({ to, children }: { to: string; children: ComponentChildren }): JSX.Element {
  return (
    <a href={to} class="link" target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
