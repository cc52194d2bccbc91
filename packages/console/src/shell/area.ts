import type { ComponentType } from 'preact';

/** What a page is given. */
export interface PageProps {
  /** Parts of its path, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
}

/** A page: its path with parts such as `:uuid`, and its module, which is loaded when it is shown. */
export interface PageRoute {
  path: string;
  load: () => Promise<{ Page: ComponentType<PageProps> }>;
}

/** An area of the console: an entry of the navigation, and the pages that belong to it. */
export interface Area {
  name: string;
  title: string;
  /** Where the entry leads. */
  path: string;
  /** Path data of its icon, of 24 by 24, drawn with lines. */
  icon: string;
  /** Whether the person may see it at all. */
  isOffered: () => boolean;
  pages: readonly PageRoute[];
}
