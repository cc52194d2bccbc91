import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { AuthorizationType, SystemType } from '../../../src/systems/model/system.types.js';
import { detailsPath, serviceAccount, systemPath, toolPath } from '../../support/factories.js';
import { tlsCertificate, type TlsCertificate } from '../../support/peers/certificates.js';
import {
  createdSystem,
  insertSystem,
  insertTools,
  newPlace,
  systemRow,
  type Place,
  type SystemBody,
} from './rows.js';

const CHANGED = { message: 'It was changed meanwhile: read it again.', details: 'If-Match' };
const NEEDED = {
  message: 'If-Match is required: send the ETag of what was read.',
  details: 'HTTP_REQUIRE_IF_MATCH',
};

describe('a change of a system with If-Match', () => {
  let app: TestApp;
  let strict: TestApp;
  let certificate: TlsCertificate;
  let place: Place;
  let system: SystemBody;
  beforeAll(async () => {
    app = await TestApp.start();
    certificate = await tlsCertificate();
    strict = await TestApp.start({ HTTP_REQUIRE_IF_MATCH: 'true' });
  });
  afterAll(() => Promise.all([app.close(), strict.close()]));
  beforeEach(async () => {
    place = newPlace();
    system = await createdSystem(app, place);
  });

  const path = () => systemPath(system.resourceId, place.appId, place.versionId);
  const tag = async () => {
    const { headers } = await app.request(
      'GET',
      detailsPath(system.resourceId, place.appId, place.versionId),
    );
    return headers.get('etag') ?? '';
  };
  const conditional = (ifMatch?: string) => (ifMatch === undefined ? {} : { 'if-match': ifMatch });
  const update = (description: string, ifMatch?: string, to = app) =>
    to.request('PATCH', path(), { body: { description }, headers: conditional(ifMatch) });
  const remove = (ifMatch?: string, to = app) =>
    to.request('DELETE', path(), { headers: conditional(ifMatch) });

  it('succeeds only on the state that was read, and returns the new ETag', async () => {
    const read = await tag();
    const first = await update('one', read);
    expect(first.status).toBe(200);
    expect(first.headers.get('etag')).toBe(await tag());
    expect(first.headers.get('etag')).not.toBe(read);

    const late = await update('two', read);
    expect(late.status).toBe(412);
    expect(late.body).toMatchObject(CHANGED);
    expect((await remove(read)).status).toBe(412);
    expect(await systemRow(app, system.id)).toMatchObject({ description: 'one' });
    expect((await remove(first.headers.get('etag') ?? '')).status).toBe(200);
  });

  it('accepts several tags, strong tags, `*`, and no header', async () => {
    const strong = (await tag()).replace('W/', '');
    expect((await update('one', `"other", ${strong}`)).status).toBe(200);
    expect((await update('two', '*')).status).toBe(200);
    expect((await update('three')).status).toBe(200);
    expect((await update('four', 'no tag')).status).toBe(400);
  });

  it('succeeds for only one of several concurrent changes with the same tag', async () => {
    const read = await tag();
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((text) => update(text, read)));
    expect(all.filter(({ status }) => status === 412)).toHaveLength(4);
  });

  it('fails after a tool was switched, and switching a tool accepts the tag of the system', async () => {
    const [toolId = ''] = await insertTools(app, system.id, [{ name: 'get-stock' }]);
    const switched = (enabled: boolean, ifMatch?: string, to = app) =>
      to.request(
        'PATCH',
        toolPath(
          { resourceId: system.resourceId, systemId: system.id, toolId },
          place.appId,
          place.versionId,
        ),
        {
          body: { enabled },
          headers: conditional(ifMatch),
        },
      );
    const read = await tag();
    expect((await switched(false, read)).status).toBe(200);
    const late = await switched(true, read);
    expect(late.status).toBe(412);
    expect(late.body).toMatchObject(CHANGED);
    expect((await update('one', read)).status).toBe(412);
    // The interface contract does not define status 428 for this operation.
    expect((await switched(true, undefined, strict)).status).toBe(200);
  });

  describe.each(['client-secret', 'client-certificate'])('that replaces its %s', (credential) => {
    const replaced = async (ifMatch?: string, to = app, resourceId = system.resourceId) => {
      const { cert, key } = certificate;
      const body =
        credential === 'client-secret'
          ? { clientSecret: 'another secret' }
          : { clientCertificate: cert, clientKey: key };
      return to.request('PUT', `${systemPath(resourceId, place.appId, place.versionId)}/${credential}`, {
        body,
        headers: conditional(ifMatch),
      });
    };
    beforeEach(async () => {
      system = await createdSystem(app, place, { payload: { authorization: serviceAccount() } });
    });

    it('accepts the tag of the system, and changes it', async () => {
      const read = await tag();
      expect((await replaced(read)).status).toBe(200);
      const late = await replaced(read);
      expect(late.status).toBe(412);
      expect(late.body).toMatchObject(CHANGED);
      expect((await update('one', read)).status).toBe(412);
      expect((await replaced('no tag')).status).toBe(400);
      expect((await replaced('*')).status).toBe(200);
    });

    it('does not require the header even if the deployment requires it for others', async () => {
      expect((await replaced(undefined, strict)).status).toBe(200);
    });

    it('accepts only `*` for a system of another type, which has no tag', async () => {
      const read = await tag();
      const { resourceId } = await insertSystem(app, place, {
        type: SystemType.Rest,
        authorizationType: AuthorizationType.ServiceAccount,
        clientId: 'client-1',
        identityProviderUrl: 'https://sso.example.com/token',
      });
      expect((await replaced(read, app, resourceId)).status).toBe(412);
      expect((await replaced('*', app, resourceId)).status).toBe(200);
    });
  });

  it('is checked after the request and before the system is changed', async () => {
    expect((await remove('"other"')).status).toBe(412);
    expect((await update('x'.repeat(3_000), '"other"')).status).toBe(400);
    expect((await remove()).status).toBe(200);
    expect((await update('one', '"other"')).status).toBe(404);
  });

  it('requires the header if the deployment does', async () => {
    for (const answer of [await update('one', undefined, strict), await remove(undefined, strict)]) {
      expect(answer.status).toBe(428);
      expect(answer.body).toMatchObject(NEEDED);
    }
    expect((await update('one', await tag(), strict)).status).toBe(200);
    expect((await remove('*', strict)).status).toBe(200);
  });
});
