import type { JSX } from 'preact';

/** SVG path data, 24 by 24, stroked. */
const PATHS = {
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
} as const;

/** Icon, hidden from screen readers: its parent needs a text or a label. */
export function Icon({ path }: { path: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** Icon of a button. */
export function ButtonIcon({ name }: { name: keyof typeof PATHS }): JSX.Element {
  return <Icon path={PATHS[name]} />;
}
