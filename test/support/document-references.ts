import { dirname, normalize } from 'node:path';
import type { SourceViolation } from './source-rules.js';

/** Headings of a document: numbers of sections (`4.2`) and anchors of links (`42-endpoint-8-execute-a-ui-action`). */
interface Headings {
  sections: ReadonlySet<string>;
  anchors: ReadonlySet<string>;
}

const CITATION =
  /(docs\/[\w/-]+\.md)(?:,[\s*]+sections?[\s*]+(\d[\d.]*(?:(?:,[\s*]+|[\s*]+and[\s*]+)\d[\d.]*)*))?/g;
const LINK = /\]\((?!\w+:)([^)#\s]*\.md|(?=#))(?:#([^)\s]*))?\)/g;
const ELSEWHERE =
  /\bdecisions,[\s*]+sections?\b|\bsemantics,[\s*]+(?:section|")|\(semantics[,:]\s|\binterface contract,[\s*]+(?:"|endpoint)|\(contract,\s/gi;

/**
 * References to documents that lead nowhere: a citation in code (`docs/contract.md, section 4.2`), a link between
 * documents (`[rules](contract.md#5-workflows)`), and the names of documents that are not in the repository.
 */
export class DocumentReferences {
  private readonly headings: ReadonlyMap<string, Headings>;

  /** @param documents text of each Markdown file by its path in the repository */
  constructor(documents: ReadonlyMap<string, string>) {
    this.headings = new Map([...documents].map(([path, text]) => [path, headingsOf(text)]));
  }

  /** The lines of one file with a reference that leads nowhere. */
  violations(path: string, text: string): SourceViolation[] {
    if (path.endsWith('.md')) {
      return this.ofLinks(path, text);
    }
    return /\.(ts|cjs)$/.test(path) ? [...this.ofCitations(path, text), ...ofNames(path, text)] : [];
  }

  private ofCitations(path: string, text: string): SourceViolation[] {
    return [...text.matchAll(CITATION)].flatMap(({ 0: citation, 1: document = '', 2: numbers, index }) => {
      const headings = this.headings.get(document);
      const wanted = numbers?.match(/\d+(?:\.\d+)*/g) ?? [];
      const leads = headings !== undefined && wanted.every((number) => headings.sections.has(number));
      return leads
        ? []
        : [violation(path, text, index, `leads nowhere: ${citation.replace(/[\s*]+/g, ' ')}`)];
    });
  }

  private ofLinks(path: string, text: string): SourceViolation[] {
    return [...text.matchAll(LINK)].flatMap(({ 1: file = '', 2: anchor, index }) => {
      const target = file === '' ? path : normalize(`${dirname(path)}/${file}`);
      const headings = this.headings.get(target);
      const leads = headings !== undefined && (anchor === undefined || headings.anchors.has(anchor));
      return leads ? [] : [violation(path, text, index, `leads nowhere: ${file}#${anchor ?? ''}`)];
    });
  }
}

function ofNames(path: string, text: string): SourceViolation[] {
  return [...text.matchAll(ELSEWHERE)].map(({ 0: name, index }) =>
    violation(
      path,
      text,
      index,
      `is not in the repository: ${name.replace(/[\s*]+/g, ' ')}; cite a section of a file in docs`,
    ),
  );
}

function violation(path: string, text: string, index: number, why: string): SourceViolation {
  return { path, line: text.slice(0, index).split('\n').length, why };
}

function headingsOf(text: string): Headings {
  const titles = text
    .replace(/^```[\s\S]*?^```/gm, '')
    .split('\n')
    .flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []);
  return {
    sections: new Set(titles.flatMap((title) => /^(\d+(?:\.\d+)*)\.? /.exec(title)?.[1] ?? [])),
    anchors: new Set(titles.map(anchorOf)),
  };
}

/** As the code hosts make anchors of headings. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
