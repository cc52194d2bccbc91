declare module 'bpmn-auto-layout' {
  /** Returns the file with a diagram of its first process. */
  export function layoutProcess(xml: string): Promise<string>;
}
