import { Component, type ComponentChildren, type ComponentType, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../parts/error-note.js';
import { Waiting } from '../parts/notes.js';
import { PageHead } from '../parts/page-head.js';
import { texts } from '../texts/texts.js';
import type { PageProps, PageRoute } from './area.js';

/** Pages that were loaded, by their routes: they are shown again without a moment of waiting. */
const loaded = new Map<PageRoute, ComponentType<PageProps>>();

type State = { Page: ComponentType<PageProps> } | { error: unknown } | undefined;

/** A page, once its module is there. */
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
    <Guard>
      <state.Page {...props} />
    </Guard>
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

/** Keeps what a page throws within the page: navigation stays. */
class Guard extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ComponentChildren {
    return 'error' in this.state ? <Failed error={this.state.error} /> : this.props.children;
  }
}
