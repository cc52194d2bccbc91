import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { Link } from './button.js';

/** Breadcrumb. */
export interface Crumb {
  title: string;
  to: string;
}

interface PageHeadProps {
  /** Top heading of the page, also used as the title of the tab. */
  title: string;
  lead?: ComponentChildren;
  crumbs?: readonly Crumb[];
  /** State of the subject of the page. */
  state?: ComponentChildren;
  /** Buttons. */
  actions?: ComponentChildren;
}

/** Header of a page. */
export function PageHead({ title, lead, crumbs = [], state, actions }: PageHeadProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · ${texts.shell.product}`;
  }, [title]);
  return (
    <header class="page-head">
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label={texts.parts.path}>
          {crumbs.map((crumb) => (
            <Link key={crumb.to} to={crumb.to}>
              {crumb.title}
            </Link>
          ))}
        </nav>
      )}
      <div class="page-head-row">
        <h1>{title}</h1>
        {state}
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </header>
  );
}

/** Section of a page with a heading. */
export function Section({
  title,
  actions,
  children,
  isFlush = false,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  /** Whether the content, such as a table, extends to the edges. */
  isFlush?: boolean;
}): JSX.Element {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      <div class={isFlush ? 'section-body is-flush' : 'section-body'}>{children}</div>
    </section>
  );
}
