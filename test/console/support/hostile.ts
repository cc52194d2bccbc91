import type { Page } from 'playwright-core';

/** Statement that each payload would run. */
const RUN = 'hostileRan=1';
/** Attribute of elements created from a payload. */
const MARK = 'data-hostile';

/** Texts that run code in some browser or library if a page does not treat them as text. */
export const PAYLOADS: readonly string[] = [
  `<script ${MARK}>${RUN}</script>`,
  `<img ${MARK} src=x onerror=${RUN}>`,
  `<svg ${MARK} onload=${RUN}></svg>`,
  `"><img ${MARK} src=x onerror=${RUN}>`,
  `' ${MARK} autofocus onfocus=${RUN} x='`,
  `" ${MARK} autofocus onfocus=${RUN} x="`,
  `</textarea></title></style></script><img ${MARK} src=x onerror=${RUN}>`,
  `--><img ${MARK} src=x onerror=${RUN}>`,
  `]]><img ${MARK} src=x onerror=${RUN}>`,
  `<template ${MARK}><img src=x onerror=${RUN}></template>`,
  `<iframe ${MARK} srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<math ${MARK}><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<a ${MARK} href="javascript:${RUN}">a</a>`,
  `<form ${MARK} action="javascript:${RUN}"><button>b</button></form>`,
  `<style ${MARK}>*{background:url(javascript:${RUN})}</style>`,
  `[a](javascript:${RUN}) ![b](x"onerror="${RUN}) <javascript:${RUN}>`,
  `{{constructor.constructor('${RUN}')()}}`,
  '${' + RUN + '}',
  `&lt;img ${MARK} src=x onerror=${RUN}&gt;`,
  `\u2028\u202e<img ${MARK} src=x onerror=${RUN}>\u0000`,
];
/** All payloads in one text. */
export const ALL = PAYLOADS.join(' ');
/** Addresses that run code if used in a link. */
const ADDRESSES = [
  `javascript:${RUN}//`,
  ` JaVaScRiPt:${RUN}//`,
  `data:text/html,<script>${RUN}</script>`,
  `java\tscript:${RUN}//`,
];

/** `texts` appends all payloads to free text but keeps references. `addresses` replaces everything except enumerated values. */
export type Hostility = 'texts' | 'addresses';

/** Members with enumerated values or references. */
const REFERENCES =
  /^(id|.*Ids?|.*Uuids?|next|type|state|status|outcome|event|kind|role|method|format|\$ref|action|key|.*Key|aiType|finishReason|permission|scope|.*At|.*Date|timestamp|inputBody)$/;
/** Enumerated values, times and UUIDs. */
const FIXED = /^([A-Z][A-Z\d_]*|\d{4}-\d\d-\d\dT.*|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/;
/** Members whose own member names are free text. */
const OPEN = new Set(['data', 'arguments', 'input', 'output', 'details', 'configuration', 'result']);

let count = 0;

/** Returns a response with hostile content. */
export function hostile(value: unknown, how: Hostility, name = ''): unknown {
  if (typeof value === 'string') {
    return hostileText(value, how, name);
  }
  if (Array.isArray(value)) {
    return value.map((item) => hostile(item, how, name));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const members = Object.entries(value).map(([key, member]) => [key, hostile(member, how, key)] as const);
  return Object.fromEntries([...members, ...added(name)]);
}

function hostileText(text: string, how: Hostility, name: string): string {
  if (name === 'bpmn') {
    return how === 'texts' ? hostileBpmn(text) : text;
  }
  if (FIXED.test(text) || (how === 'texts' && REFERENCES.test(name)) || /^(type|state|status)$/.test(name)) {
    return text;
  }
  count += 1;
  return how === 'texts' ? `${text} ${ALL}` : (ADDRESSES[count % ADDRESSES.length] as string);
}

function added(name: string): [string, unknown][] {
  if (name === 'properties') {
    return [[ALL, { type: 'string', title: ALL, description: ALL, enum: [ALL, 'b'], default: ALL }]];
  }
  return OPEN.has(name) ? [[ALL, ALL]] : [];
}

/** Returns a BPMN file with hostile element names. */
function hostileBpmn(text: string): string {
  const escaped = ALL.replaceAll('\u0000', '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;');
  return text.replaceAll(/ name="/g, () => ` name="${escaped} `);
}

/** Lists the payloads that a page did not treat as text. */
export function traces(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const found = [...document.querySelectorAll('[${MARK}], iframe, base, [onerror], [onload], [onfocus], main script')]
      .map((element) => element.outerHTML.slice(0, 200));
    const links = [...document.querySelectorAll('[href], [action], [formaction]')]
      .map((element) => element.href?.baseVal ?? element.href ?? element.action ?? element.formAction)
      .filter((address) => typeof address === 'string' && !/^(https?:|blob:|#|$)/.test(address));
    const ran = 'hostileRan' in globalThis ? ['it ran'] : [];
    return [...found, ...links, ...ran];
  })()`);
}
