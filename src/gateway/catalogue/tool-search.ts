import MiniSearch from 'minisearch';
import type { CatalogueTool } from './catalogue.types.js';

const FIELDS = { name: 3, description: 2, parameters: 1 };

/** Ranked text search over names, descriptions and parameters of tools. */
export class ToolSearch {
  private readonly index = new MiniSearch<Record<'name' | keyof typeof FIELDS, string>>({
    idField: 'name',
    fields: Object.keys(FIELDS),
    // Parts of camelCase and snake_case names are words too.
    tokenize: (text) => text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[^\p{L}\p{N}]+/u),
    searchOptions: { boost: FIELDS, prefix: true, fuzzy: 0.2 },
  });

  constructor(tools: Iterable<CatalogueTool>) {
    this.index.addAll(
      [...tools].map(({ name, tool: { title, description, inputSchema } }) => ({
        name,
        description: `${title ?? ''} ${description}`,
        parameters: wordsOf(inputSchema['properties']),
      })),
    );
  }

  /** Returns the names of matching tools, best first. @param isOffered excludes tools that the caller may not use */
  find(query: string, isOffered: (name: string) => boolean): string[] {
    const found = this.index.search(query, { filter: ({ id }) => isOffered(String(id)) });
    return found.map(({ id }) => String(id));
  }
}

/** Returns names and descriptions of parameters. */
function wordsOf(properties: unknown): string {
  const entries = Object.entries((properties ?? {}) as Record<string, { description?: unknown } | null>);
  return entries
    .map(([name, schema]) => `${name} ${typeof schema?.description === 'string' ? schema.description : ''}`)
    .join(' ');
}
