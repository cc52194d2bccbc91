/** The parts of bpmn-moddle 10 that we use. The package only has types of BPMN elements. */
declare module 'bpmn-moddle' {
  export interface ModdleWarning {
    message: string;
    element?: unknown;
    property?: string;
    value?: string;
  }

  /** Reader of one file. Options override its members. */
  export interface ModdleReader {
    handler(type: string): RootHandler;
  }

  /** Handler of the root element of a file. */
  export interface RootHandler {
    context?: ReadContext | undefined;
  }

  /** State of reading a file. */
  export interface ReadContext {
    readonly warnings: ModdleWarning[];
    addWarning: (warning: ModdleWarning) => void;
  }

  export class BpmnModdle {
    constructor(packages?: Record<string, unknown>);
    /** Called for every property that is read. */
    readonly properties: { set: (target: object, name: string, value: unknown) => void };
    /** Rejects when there is no readable `bpmn:definitions`; everything else is a warning, also of the error. */
    fromXML(
      xml: string,
      options?: object,
    ): Promise<{ rootElement: unknown; elementsById: Record<string, unknown>; warnings: ModdleWarning[] }>;
    /** Writes elements as XML. Tests use it to check that reading loses nothing. */
    toXML(rootElement: unknown, options?: { format?: boolean }): Promise<{ xml: string }>;
  }
}
