import 'bpmn-js/dist/assets/diagram-js.css';
import 'bpmn-js/dist/assets/bpmn-js.css';
import NavigatedViewer from 'bpmn-js/lib/NavigatedViewer';
import './diagram.css';
import { DiagramError } from './diagram-error.js';
import type { Mark } from './mark.js';
import { isDrawn, processOf } from './process-element.js';

interface Canvas {
  zoom(level?: number | 'fit-viewport', center?: 'auto'): number;
  addMarker(element: string, name: string): void;
  removeMarker(element: string, name: string): void;
}
interface Overlays {
  add(element: string, type: string, overlay: { position: object; html: HTMLElement }): string;
  remove(filter: { type: string }): void;
}
interface ElementRegistry {
  get(element: string): object | undefined;
}
interface EventBus {
  on(event: string, listener: (event: { element: { id: string } }) => void): void;
}

const MARK = 'svc-mark';

/** bpmn-js viewer in an element of the page. Loaded lazily, because it is larger than the rest of the console. */
export class DiagramView {
  private readonly viewer: NavigatedViewer;
  private marks: readonly Mark[] = [];

  constructor(container: HTMLElement, onElement: (elementId: string) => void) {
    this.viewer = new NavigatedViewer({ container });
    this.viewer.get<EventBus>('eventBus').on('element.click', ({ element }) => onElement(element.id));
  }

  /**
   * Draws a process of a BPMN file.
   * @returns whether it was laid out automatically, because the file has no diagram of it
   * @throws DiagramError
   */
  async open(xml: string, processName: string): Promise<boolean> {
    const file = new DOMParser().parseFromString(xml, 'application/xml');
    const process = processOf(file, processName);
    if (process === undefined) {
      throw new DiagramError({ kind: 'noProcess' });
    }
    const isLaidOut = !isDrawn(file, process);
    const drawn = isLaidOut ? await (await import('./layout.js')).layOut(file, process) : xml;
    await this.viewer.importXML(drawn).catch((error: unknown) => {
      throw new DiagramError({ kind: 'unreadable' }, { cause: error });
    });
    this.fit();
    return isLaidOut;
  }

  fit(): void {
    this.canvas.zoom('fit-viewport', 'auto');
  }

  zoom(factor: number): void {
    this.canvas.zoom(this.canvas.zoom() * factor);
  }

  /** Replaces all marks. Ignores marks of elements that are not in the diagram. */
  mark(marks: readonly Mark[]): void {
    const overlays = this.viewer.get<Overlays>('overlays');
    const elements = this.viewer.get<ElementRegistry>('elementRegistry');
    this.marks.forEach(({ elementId, className }) => this.canvas.removeMarker(elementId, className));
    // Keeps overlays of the library, such as the arrow that opens a sub-process.
    overlays.remove({ type: MARK });
    this.marks = marks.filter(({ elementId }) => elements.get(elementId) !== undefined);
    for (const mark of this.marks) {
      this.canvas.addMarker(mark.elementId, mark.className);
      if (mark.text !== undefined) {
        overlays.add(mark.elementId, MARK, { position: { top: -10, right: 14 }, html: labelOf(mark) });
      }
    }
  }

  close(): void {
    this.viewer.destroy();
  }

  private get canvas(): Canvas {
    return this.viewer.get<Canvas>('canvas');
  }
}

/** Creates an element instead of markup, because texts are untrusted. */
function labelOf({ text = '', title = '', className }: Mark): HTMLElement {
  const label = document.createElement('span');
  label.className = `diagram-label ${className}`;
  label.textContent = text;
  label.title = title;
  return label;
}
