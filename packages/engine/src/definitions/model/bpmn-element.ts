/** An element of a parsed BPMN file, as bpmn-moddle returns it: attributes and children are properties. */
export interface BpmnElement {
  /** Prefixed type: `bpmn:UserTask`. */
  readonly $type: string;
  readonly $parent?: BpmnElement;
  /** Attributes of other namespaces, by prefixed name. */
  readonly $attrs?: Readonly<Record<string, unknown>>;
  readonly $instanceOf?: (type: string) => boolean;
  /** Elements of other namespaces have `ns` and no properties. */
  readonly $descriptor?: {
    readonly properties?: readonly BpmnProperty[];
    readonly ns?: { readonly uri?: string };
  };
  readonly [property: string]: unknown;
}

/** A property in the meta-model of an element. */
export interface BpmnProperty {
  readonly name: string;
  /** `name` with the prefix of the package that defines it. */
  readonly ns?: { readonly name: string };
  readonly type: string;
  readonly isMany?: boolean;
  readonly isAttr?: boolean;
  readonly isReference?: boolean;
  readonly isVirtual?: boolean;
}

/** Whether a value is an element and not text. */
export function isElement(value: unknown): value is BpmnElement {
  return typeof value === 'object' && value !== null && typeof (value as BpmnElement).$type === 'string';
}

/** Returns the local name as written in the file: `userTask` for `bpmn:UserTask`. */
export function kindOf(element: BpmnElement): string {
  const name = element.$type.slice(element.$type.indexOf(':') + 1);
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Whether an element is of a type of the meta-model, such as `bpmn:Activity`. */
export function isA(element: BpmnElement, type: string): boolean {
  return element.$instanceOf?.(type) ?? false;
}

/** Id of an element; null without one. */
export function idOf(element: BpmnElement): string | null {
  return textOf(element, 'id') ?? null;
}

/** Text of an attribute or a text-only child; undefined without it. */
export function textOf(element: BpmnElement, property: string): string | undefined {
  const value = element[property];
  return typeof value === 'string' ? value : undefined;
}

/** A contained or referenced element; undefined without it. */
export function childOf(element: BpmnElement, property: string): BpmnElement | undefined {
  const value = element[property];
  return isElement(value) ? value : undefined;
}

/** Contained or referenced elements of a property that may have many. */
export function childrenOf(element: BpmnElement, property: string): BpmnElement[] {
  const value = element[property];
  return Array.isArray(value) ? value.filter(isElement) : [];
}

/** All elements directly inside, in the order of the meta-model. */
export function contentOf(element: BpmnElement): BpmnElement[] {
  return (element.$descriptor?.properties ?? [])
    .filter(({ isAttr, isReference, isVirtual }) => !isAttr && !isReference && !isVirtual)
    .flatMap(({ name }) => [element[localName(name)]].flat())
    .filter(isElement);
}

/** Element of the extension elements; undefined without it. */
export function extensionOf(element: BpmnElement, type: string): BpmnElement | undefined {
  const extensions = childOf(element, 'extensionElements');
  return extensions && childrenOf(extensions, 'values').find(({ $type }) => $type === type);
}

/** Contents of an element of the extension elements, such as the `actions` of `svc:Actions`. */
export function partsOf(element: BpmnElement, type: string, property: string): BpmnElement[] {
  const extension = extensionOf(element, type);
  return extension === undefined ? [] : childrenOf(extension, property);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
