import { Component, type ComponentChildren, type ComponentType, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../parts/error-note.js';
import { Waiting } from '../parts/notes.js';
import { PageHead } from '../parts/page-head.js';
import { texts } from '../texts/texts.js';
import type { PageProps, PageRoute } from './area.js';

/** Loaded pages by route, so they appear at once when shown again. */
const loaded = new Map<PageRoute, ComponentType<PageProps>>();

type State = { Page: ComponentType<PageProps> } | { error: unknown } | undefined;

/** Loads and shows the page of a route. */
export function PageOf({ route, ...props }: PageProps & { route: PageRoute }): JSX.Element {
  const known = loaded.get(route);
  const [state, setState] = useState<State>(known === undefined ? undefined : { Page: known });
  useEffect(() => {
    if (loaded.has(route)) {
      return;
    }
    const show = async (): Promise<void> => {
      try {
        const { Page } = await route.load();
        loaded.set(route, Page);
        setState({ Page });
      } catch (error) {
        setState({ error });
      }
    };
    void show();
  }, [route]);
  if (state === undefined) {
    return <Waiting />;
  }
  if ('error' in state) {
    return <Failed error={state.error} />;
  }
  return (
    <ErrorBoundary>
      <state.Page {...props} />
    </ErrorBoundary>
  );
}

function Failed({ error }: { error: unknown }): JSX.Element {
  return (
    <>
      <PageHead title={texts.shell.pageFailed} />
      <ErrorNote error={error} retry={() => location.reload()} />
    </>
  );
}

/** Shows errors thrown by a page in its place, so the navigation stays. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ComponentChildren {
    return 'error' in this.state ? <Failed error={this.state.error} /> : this.props.children;
  }
}
