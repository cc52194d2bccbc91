import { validateAll } from '@bpmn-io/element-templates-validator';
import { ElementTemplatesCoreModule } from 'bpmn-js-element-templates/core';
import Modeler from 'bpmn-js/lib/Modeler';
import camunda from 'camunda-bpmn-moddle/resources/camunda.json';
import { JSDOM } from 'jsdom';

export { validateAll };

/**
 * Applies templates in the real modeler.
 * @param plugins registrations of the Camunda Modeler plugin
 * @param work.applied template ids by element id
 * @param work.filled properties that an author fills in, by element id
 */
export async function apply(plugins, xml, templates, { applied, filled }) {
  const modeler = modelerWith(plugins);
  const errors = [];
  modeler.get('eventBus').on('elementTemplates.errors', (event) => errors.push(...event.errors));
  modeler.get('elementTemplatesLoader').setTemplates(templates);
  const { warnings } = await modeler.importXML(xml);
  const elements = modeler.get('elementRegistry');
  for (const [element, id] of Object.entries(applied)) {
    const [template] = modeler.get('elementTemplates').getLatest(id);
    modeler.get('elementTemplates').applyTemplate(elements.get(element), template);
    modeler.get('modeling').updateProperties(elements.get(element), filled[element] ?? {});
  }
  const written = await modeler.saveXML({ format: true });
  modeler.destroy();
  return { xml: written.xml, warnings: [...warnings, ...errors].map((one) => one.message) };
}

function modelerWith(plugins) {
  const { document } = openWindow();
  return new Modeler({
    container: document.querySelector('div'),
    moddleExtensions: {
      camunda,
      svc: plugins.find(({ type }) => type === 'bpmn.modeler.moddleExtension').plugin,
    },
    additionalModules: [
      ElementTemplatesCoreModule,
      ...plugins.filter(({ type }) => type === 'bpmn.modeler.additionalModules').map(({ plugin }) => plugin),
    ],
  });
}

/** Opens a window with stubs for the parts of SVG that the modeler uses. Nothing is rendered. */
function openWindow() {
  const { window } = new JSDOM('<div></div>', { pretendToBeVisual: true });
  const matrix = () => ({
    a: 1,
    b: 0,
    c: 0,
    d: 1,
    e: 0,
    f: 0,
    inverse: matrix,
    multiply: matrix,
    translate: matrix,
    scale: matrix,
  });
  const transform = () => ({
    matrix: matrix(),
    setMatrix() {},
    setTranslate() {},
    setRotate() {},
    setScale() {},
  });
  const transforms = {
    numberOfItems: 0,
    consolidate: transform,
    clear() {},
    appendItem() {},
    initialize() {},
    getItem: transform,
  };
  Object.assign(window.SVGElement.prototype, {
    getBBox: () => ({ x: 0, y: 0, width: 10, height: 10 }),
    getCTM: matrix,
    getScreenCTM: matrix,
    createSVGMatrix: matrix,
    createSVGTransform: transform,
    createSVGTransformFromMatrix: transform,
    getComputedTextLength: () => 10,
  });
  Object.defineProperty(window.SVGElement.prototype, 'transform', { get: () => ({ baseVal: transforms }) });
  window.HTMLCanvasElement.prototype.getContext = () => ({ measureText: () => ({ width: 10 }) });
  window.SVGMatrix = Function;
  window.CSS ??= { escape: (text) => text.replaceAll(/[^\w-]/g, String.raw`\$&`) };
  const names = [
    'window',
    'document',
    'Element',
    'HTMLElement',
    'SVGElement',
    'Node',
    'MouseEvent',
    'KeyboardEvent',
    'DOMParser',
    'XMLSerializer',
    'CSS',
    'SVGMatrix',
  ];
  for (const name of names) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      writable: true,
      value: name === 'window' ? window : window[name],
    });
  }
  return window;
}
