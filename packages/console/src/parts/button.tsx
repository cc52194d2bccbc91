import type { ComponentChildren, JSX } from 'preact';
import { href } from '../app/router.js';
import { classNames } from './class-names.js';

/** Look of a button: at most one `primary` per page; `danger` ends or removes something. */
export type ButtonKind = 'plain' | 'primary' | 'danger' | 'bare';

interface ButtonProps {
  children: ComponentChildren;
  kind?: ButtonKind;
  onClick?: () => unknown;
  type?: 'button' | 'submit';
  disabled?: boolean;
  /** Its action is running. */
  isBusy?: boolean;
  /** Accessible name if the content is not text. */
  label?: string;
  isPressed?: boolean;
}

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

/** Link within the console. */
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

/** Link out of the console, opened in a new tab. */
export function ExternalLink({ to, children }: { to: string; children: ComponentChildren }): JSX.Element {
  return (
    <a href={to} class="link" target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
