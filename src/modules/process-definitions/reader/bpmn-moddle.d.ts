/** What we use of bpmn-moddle 10, whose package brings types of BPMN elements only. */
declare module 'bpmn-moddle' {
  export interface ModdleWarning {
    message: string;
    element?: unknown;
    property?: string;
    value?: string;
  }

  export class BpmnModdle {
    constructor(packages?: Record<string, unknown>);
    /** Every property of an element that is read goes through here. */
    readonly properties: { set: (target: object, name: string, value: unknown) => void };
    /** Rejects when there is no readable `bpmn:definitions`; everything else is a warning. */
    fromXML(xml: string): Promise<{ rootElement: unknown; warnings: ModdleWarning[] }>;
    /** Writes what was read; tests hold that nothing of a file is lost. */
    toXML(rootElement: unknown, options?: { format?: boolean }): Promise<{ xml: string }>;
  }
}
