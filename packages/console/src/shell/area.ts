import type { ComponentType } from 'preact';

/** Props of a page. */
export interface PageProps {
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
}

/** Route of a page: its path with parameters such as `:uuid`, and its module, which is loaded on demand. */
export interface PageRoute {
  path: string;
  load: () => Promise<{ Page: ComponentType<PageProps> }>;
}

/** Area of the console: an entry of the navigation with its pages. */
export interface Area {
  name: string;
  title: string;
  /** Path that the entry links to. */
  path: string;
  /** SVG path data of the icon, 24 by 24, stroked. */
  icon: string;
  /** Whether the user may see the area. */
  isOffered: () => boolean;
  pages: readonly PageRoute[];
}
