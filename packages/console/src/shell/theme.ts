import { effect, signal } from '@preact/signals';

/** Color scheme; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const NAME = 'svc-console theme';

/** Color scheme chosen in this browser. */
export const theme = signal<Theme>(storedTheme());

/** Applies the color scheme now and whenever it changes. */
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
      // If the browser stores nothing, the choice lasts as long as the page.
    }
  });
}

function storedTheme(): Theme {
  try {
    const value = localStorage.getItem(NAME);
    return value === 'light' || value === 'dark' ? value : 'auto';
  } catch {
    return 'auto';
  }
}
