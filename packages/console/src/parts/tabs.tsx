import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

export interface Tab {
  id: string;
  title: string;
  /** Number of items shown on the tab. */
  count?: number | string | undefined;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  value: string;
  onChange: (id: string) => void;
  /** Content of the selected tab. */
  children: ComponentChildren;
}

/** Tabs with arrow key navigation. */
export function Tabs({ label, tabs, value, onChange, children }: TabsProps): JSX.Element {
  const id = useId();
  const step = (event: KeyboardEvent, by: number): void => {
    const at = tabs.findIndex((tab) => tab.id === value);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next !== undefined) {
      event.preventDefault();
      onChange(next.id);
      document.getElementById(`${id}-${next.id}`)?.focus();
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      step(event, event.key === 'ArrowRight' ? 1 : -1);
    }
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            class="tab"
            aria-selected={tab.id === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === value ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.title} {tab.count !== undefined && <span class="quiet">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`} class="tab-panel">
        {children}
      </div>
    </div>
  );
}
