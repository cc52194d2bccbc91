import type { JSX } from 'preact';
import { may } from '../app/permissions.js';
import { setQuery } from '../app/router.js';
import { api } from '../app/session.js';
import { usePages, type Pages } from '../live/use-pages.js';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';
import { Select, TextField, type Choice } from './fields.js';

const { parts } = texts;
const PAGE_SIZE = 100;

/** Application and version of a page: `app` and `version` of its query. */
export interface ChosenVersion {
  appId: string;
  versionId: string;
}

/** Reads application and version from a query. Missing ones are empty. */
export function chosenVersion(query: URLSearchParams): ChosenVersion {
  return { appId: query.get('app') ?? '', versionId: query.get('version') ?? '' };
}

/** Selects for application and version. Users who may not list them type the ids. */
export function VersionChoice({ appId, versionId }: ChosenVersion): JSX.Element {
  return (
    <div class="filters">
      <ApplicationChoice appId={appId} />
      {appId !== '' &&
        (may('application-delivery', appId) ? (
          <ListedVersions appId={appId} versionId={versionId} />
        ) : (
          <TypedId label={parts.version} name="version" value={versionId} />
        ))}
    </div>
  );
}

/** Select for an application, or a text field for users who may not list them. */
export function ApplicationChoice({ appId }: { appId: string }): JSX.Element {
  return may('application-delivery') ? (
    <ListedApplications appId={appId} />
  ) : (
    <TypedId label={parts.application} name="app" value={appId} />
  );
}

function ListedApplications({ appId }: { appId: string }): JSX.Element {
  const pages = usePages(async (after, signal) => {
    const { data } = await api().listApplications({
      query: { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) },
      signal,
    });
    return { items: data.applications.map(({ applicationId }) => applicationId), next: data.next };
  }, []);
  return (
    <>
      <Select
        label={parts.application}
        value={appId}
        empty={parts.choose}
        choices={withChosen(pages.items.map(idChoice), appId, pages)}
        onChange={(app) => setQuery({ app, version: undefined })}
      />
      {pages.hasMore && (
        <Button isBusy={pages.isLoading} onClick={pages.more}>
          {parts.moreApplications}
        </Button>
      )}
      <ErrorNote error={pages.error} retry={pages.reload} />
    </>
  );
}

function ListedVersions({ appId, versionId }: ChosenVersion): JSX.Element {
  const pages = usePages(
    async (before, signal) => {
      const { data } = await api().listVersions({
        path: { appId },
        query: { limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) },
        signal,
      });
      return { items: data.versions, next: data.next };
    },
    [appId],
  );
  const known = pages.items.map(({ applicationVersionId, status }) => ({
    value: applicationVersionId,
    title: `${applicationVersionId} (${status.toLowerCase()})`,
  }));
  return (
    <>
      <Select
        label={parts.version}
        value={versionId}
        empty={parts.choose}
        choices={withChosen(known, versionId, pages)}
        onChange={(version) => setQuery({ version })}
      />
      {pages.hasMore && (
        <Button isBusy={pages.isLoading} onClick={pages.more}>
          {parts.moreVersions}
        </Button>
      )}
      <ErrorNote error={pages.error} retry={pages.reload} />
    </>
  );
}

function TypedId({ label, name, value }: { label: string; name: string; value: string }): JSX.Element {
  return <TextField label={label} value={value} onChange={(text) => setQuery({ [name]: text.trim() })} />;
}

/** Adds the id of the address to the choices if it is missing, marked as unknown once the whole list is loaded. */
function withChosen(
  known: readonly Choice[],
  chosen: string,
  { hasMore, isLoading, error }: Pick<Pages<unknown>, 'hasMore' | 'isLoading' | 'error'>,
): readonly Choice[] {
  if (chosen === '' || known.some(({ value }) => value === chosen)) {
    return known;
  }
  const isUnknown = !hasMore && !isLoading && error === undefined;
  return [{ value: chosen, title: isUnknown ? parts.unknownId(chosen) : chosen }, ...known];
}

function idChoice(id: string): Choice {
  return { value: id, title: id };
}
