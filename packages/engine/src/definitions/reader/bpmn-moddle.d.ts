/** The parts of bpmn-moddle 10 that we use. Its package brings types of BPMN elements only. */
declare module 'bpmn-moddle' {
  export interface ModdleWarning {
    message: string;
    element?: unknown;
    property?: string;
    value?: string;
  }

  /** The reader of one file. Its options replace members of it. */
  export interface ModdleReader {
    handler(type: string): RootHandler;
  }

  /** Takes the elements of one file, beginning with the outermost. */
  export interface RootHandler {
    context?: ReadContext | undefined;
  }

  /** What is known of a file while it is read. */
  export interface ReadContext {
    readonly warnings: ModdleWarning[];
    addWarning: (warning: ModdleWarning) => void;
  }

  export class BpmnModdle {
    constructor(packages?: Record<string, unknown>);
    /** Every property of an element that is read goes through here. */
    readonly properties: { set: (target: object, name: string, value: unknown) => void };
    /** Rejects when there is no readable `bpmn:definitions`; everything else is a warning, also of the error. */
    fromXML(
      xml: string,
      options?: object,
    ): Promise<{ rootElement: unknown; elementsById: Record<string, unknown>; warnings: ModdleWarning[] }>;
    /** Writes what was read; tests hold that nothing of a file is lost. */
    toXML(rootElement: unknown, options?: { format?: boolean }): Promise<{ xml: string }>;
  }
}
