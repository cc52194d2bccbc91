import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { ButtonIcon } from '../parts/icon.js';
import { texts } from '../texts/texts.js';
import { DiagramError } from './diagram-error.js';
import type { Mark } from './mark.js';
import type { DiagramView } from './viewer.js';

interface DiagramProps {
  /** Name of the process to draw. */
  name: string;
  /** The BPMN file. */
  xml: string;
  /** Marks on the elements. */
  marks?: readonly Mark[];
  onElement?: (elementId: string) => void;
}

type Loaded =
  | { state: 'loading' }
  | { state: 'failed'; why: string }
  | { state: 'shown'; view: DiagramView; isLaidOut: boolean };

/** Diagram of a process, from its file or laid out automatically. The viewer is loaded with the first diagram. */
export function Diagram({ name, xml, marks = [], onElement }: DiagramProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const clicked = useRef(onElement);
  clicked.current = onElement;
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' });

  useEffect(() => {
    let isOver = false;
    let view: DiagramView | undefined;
    const show = async (): Promise<void> => {
      try {
        const { DiagramView } = await import('./viewer.js');
        if (isOver || element.current === null) {
          return;
        }
        view = new DiagramView(element.current, (id) => clicked.current?.(id));
        const isLaidOut = await view.open(xml, name);
        setLoaded({ state: 'shown', view, isLaidOut });
      } catch (error) {
        setLoaded({ state: 'failed', why: reasonOf(error) });
      }
    };
    setLoaded({ state: 'loading' });
    void show();
    return () => {
      isOver = true;
      view?.close();
    };
  }, [xml, name]);

  useEffect(() => {
    if (loaded.state === 'shown') {
      loaded.view.mark(marks);
    }
  }, [loaded, marks]);

  return (
    <figure class="diagram" aria-label={texts.diagram.label(name)}>
      <div class="diagram-canvas" ref={element} />
      {loaded.state !== 'shown' && (
        <p class="diagram-note" role="status">
          {loaded.state === 'loading' ? texts.diagram.loading : `${texts.diagram.failed} ${loaded.why}`}
        </p>
      )}
      {loaded.state === 'shown' && <DiagramButtons view={loaded.view} />}
      {loaded.state === 'shown' && loaded.isLaidOut && (
        <figcaption class="diagram-caption">{texts.diagram.laidOut}</figcaption>
      )}
    </figure>
  );
}

function reasonOf(error: unknown): string {
  const { reasons } = texts.diagram;
  if (!(error instanceof DiagramError)) {
    return reasons.notLoaded;
  }
  const { fault } = error;
  return fault.kind === 'large' ? reasons.large(fault.nodes, fault.most) : reasons[fault.kind];
}

function DiagramButtons({ view }: { view: DiagramView }): JSX.Element {
  return (
    <div class="diagram-buttons">
      <Button label={texts.diagram.zoomIn} onClick={() => view.zoom(1.25)}>
        <ButtonIcon name="plus" />
      </Button>
      <Button label={texts.diagram.zoomOut} onClick={() => view.zoom(0.8)}>
        <ButtonIcon name="minus" />
      </Button>
      <Button label={texts.diagram.fit} onClick={() => view.fit()}>
        <ButtonIcon name="fit" />
      </Button>
    </div>
  );
}
