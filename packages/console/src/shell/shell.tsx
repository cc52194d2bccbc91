import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { href, matchPath, place } from '../app/router.js';
import { caller, hasEnded, session, signOut } from '../app/session.js';
import { signInAgain } from '../app/sign-in/start.js';
import { Button, Link } from '../parts/button.js';
import { ButtonIcon, Icon } from '../parts/icon.js';
import { Messages } from '../parts/messages.js';
import { Empty, Waiting } from '../parts/notes.js';
import { PageHead } from '../parts/page-head.js';
import { texts } from '../texts/texts.js';
import type { Area } from './area.js';
import { PageOf } from './page-of.js';
import { SignIn } from './sign-in.js';
import { theme, type Theme } from './theme.js';

const { shell } = texts;
const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

/** The whole console: navigation and page for signed-in users, the sign-in page for others. */
export function Shell({ areas }: { areas: readonly Area[] }): JSX.Element {
  switch (session.value.state) {
    case 'starting':
      return (
        <main class="start">
          <Waiting>{shell.starting}</Waiting>
        </main>
      );
    case 'signed-out':
      return <SignIn error={session.value.error} />;
    case 'signed-in':
      return <Frame areas={areas} />;
  }
}

function Frame({ areas }: { areas: readonly Area[] }): JSX.Element {
  const isOpen = useSignal(false);
  const current = areas.find(({ pages }) => pages.some((page) => matchPath(page.path, place.value.path)));
  return (
    <div class="frame">
      <a class="skip" href="#page">
        {shell.skip}
      </a>
      <header class="bar">
        <Button
          kind="bare"
          label={isOpen.value ? shell.closeNavigation : shell.openNavigation}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <ButtonIcon name="menu" />
        </Button>
        <span class="bar-title">{current?.title ?? shell.product}</span>
      </header>
      <aside class={isOpen.value ? 'side is-open' : 'side'}>
        <Brand />
        <Navigation areas={areas} current={current} onChoose={() => (isOpen.value = false)} />
        <Account />
      </aside>
      <main class="page" id="page" tabIndex={-1}>
        {hasEnded.value && <Ended />}
        <Page areas={areas} current={current} />
      </main>
      <Messages />
    </div>
  );
}

function Brand(): JSX.Element {
  return (
    <a class="brand" href={href('/')}>
      {shell.product}
    </a>
  );
}

function Navigation({
  areas,
  current,
  onChoose,
}: {
  areas: readonly Area[];
  current: Area | undefined;
  onChoose: () => void;
}): JSX.Element {
  return (
    <nav aria-label={shell.navigation} onClick={onChoose}>
      <ul class="areas">
        {areas
          .filter((area) => area.isOffered())
          .map((area) => (
            <li key={area.name}>
              <a
                href={href(area.path)}
                class="area"
                {...(area === current ? { 'aria-current': 'page' as const } : {})}
              >
                <Icon path={area.icon} />
                {area.title}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Account(): JSX.Element {
  const user = caller.value?.user;
  const name = [user?.firstName, user?.lastName].filter(Boolean).join(' ');
  return (
    <section class="account" aria-label={shell.account}>
      <label class="theme">
        <span>{shell.theme}</span>
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = THEMES.find((each) => each === event.currentTarget.value) ?? 'auto';
          }}
        >
          {THEMES.map((each) => (
            <option key={each} value={each}>
              {shell.themes[each]}
            </option>
          ))}
        </select>
      </label>
      <p class="account-name" title={user?.userName}>
        {name === '' ? user?.userName : name}
        {user !== undefined && user.impersonatingUser !== null && (
          <span class="quiet"> {shell.impersonatedBy(user.impersonatingUser.userName)}</span>
        )}
      </p>
      <Button onClick={signOut}>{shell.signOut}</Button>
    </section>
  );
}

function Ended(): JSX.Element {
  return (
    <div class="note note-warn" role="alert">
      <p>{shell.ended}</p>
      <p>
        <Button kind="primary" onClick={signInAgain}>
          {shell.signInAgain}
        </Button>
      </p>
    </div>
  );
}

function Page({ areas, current }: { areas: readonly Area[]; current: Area | undefined }): JSX.Element {
  const { path, query } = place.value;
  if (current === undefined) {
    return <Missing title={shell.notFound} lead={shell.notFoundLead} />;
  }
  if (!current.isOffered()) {
    return <Missing title={shell.notOffered} lead={shell.notOfferedLead} />;
  }
  for (const route of areas.flatMap(({ pages }) => pages)) {
    const params = matchPath(route.path, path);
    if (params !== undefined) {
      return <PageOf key={`${route.path} ${path}`} route={route} params={params} query={query} />;
    }
  }
  return <Missing title={shell.notFound} lead={shell.notFoundLead} />;
}

function Missing({ title, lead }: { title: string; lead: string }): JSX.Element {
  return (
    <>
      <PageHead title={title} />
      <Empty title={lead}>
        <Link to="/" kind="plain">
          {shell.toHome}
        </Link>
      </Empty>
    </>
  );
}
