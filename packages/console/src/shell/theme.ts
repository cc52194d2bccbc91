import { effect, signal } from '@preact/signals';

/** Which colours a person wants; `auto` are those of the system. */
export type Theme = 'auto' | 'light' | 'dark';

const NAME = 'svc-console theme';

/** The colours of this browser. */
export const theme = signal<Theme>(kept());

/** Applies the colours now and whenever they change. */
export function startTheme(): void {
  effect(() => {
    const { value } = theme;
    if (value === 'auto') {
      delete document.documentElement.dataset['theme'];
    } else {
      document.documentElement.dataset['theme'] = value;
    }
    try {
      localStorage.setItem(NAME, value);
    } catch {
      // Where the browser keeps nothing, they last as long as the page.
    }
  });
}

function kept(): Theme {
  try {
    const value = localStorage.getItem(NAME);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto';
  }
}
