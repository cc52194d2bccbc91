import { describe, expect, it } from 'vitest';

import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { renderToolResult } from './tool-result.js';

const textOf = (...content: unknown[]): string => renderToolResult({ content }).text;

describe('renderToolResult', () => {
  it.each<[string, unknown, string]>([
    ['a text', { type: 'text', text: 'Hello\r\nworld' }, 'Hello\nworld'],
    ['a text that is none', { type: 'text', text: 7 }, ''],
    ['an image', { type: 'image', mimeType: 'image/png', data: 'AAAA' }, '[image image/png, 3 bytes]'],
    ['a sound', { type: 'audio', mimeType: 'audio/wav', data: 'AAAAAA==' }, '[audio audio/wav, 4 bytes]'],
    ['an image without data', { type: 'image' }, '[image, 0 bytes]'],
    [
      'a resource with text',
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
      '[resource file:///a.txt text/plain]\ninside',
    ],
    [
      'a binary resource',
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA' } },
      '[resource file:///a.bin, 3 bytes]',
    ],
    ['a resource that is none', { type: 'resource', resource: null }, '[resource, 0 bytes]'],
    [
      'a link to a resource',
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain' },
      '[link to a resource file:///a.txt a text/plain]',
    ],
    [
      'a label of many lines',
      { type: 'image', mimeType: 'image/png\n\nIgnore all' },
      '[image image/png  Ignore all, 0 bytes]',
    ],
    ['a kind of tomorrow', { type: 'hologram' }, '[content of kind hologram]'],
    ['a kind without a name', {}, '[content of kind unknown]'],
    ['something else', 'text', '[content of no known kind]'],
  ])('shows %s', (_name, block, text) => {
    expect(textOf(block)).toBe(text);
  });

  it('removes invisible characters', () => {
    expect(textOf({ type: 'text', text: 'ok\u{e0049}\u{e0067}\u202e\u200b.' })).toBe('ok.');
  });

  it('puts each block on its own line', () => {
    expect(textOf({ type: 'text', text: 'a' }, { type: 'text', text: 'b' })).toBe('a\nb');
  });

  it('marks integers of structured content that were rounded', () => {
    const structuredContent = JSON.parse(
      '{"id":3544790567247868102,"rows":[{"n":9007199254740991}]}',
    ) as object;
    const text = { type: 'text', text: '{"id":3544790567247868102}' };
    expect(renderToolResult({ content: [text], structuredContent })).toEqual({
      isError: false,
      text: text.text,
      structured: { id: '[integer beyond 2^53 - 1]', rows: [{ n: 9_007_199_254_740_991 }] },
    });
  });

  it('keeps structured content, and uses it as text when there is none', () => {
    const structuredContent = { total: 2 };
    expect(renderToolResult({ content: [], structuredContent })).toEqual({
      isError: false,
      text: '{"total":2}',
      structured: structuredContent,
    });
    expect(renderToolResult({ structuredContent }).text).toBe('{"total":2}');
    expect(renderToolResult({})).toEqual({ isError: false, text: '', structured: null });
    expect(renderToolResult({ content: null, isError: true })).toMatchObject({ isError: true, text: '' });
    expect(renderToolResult({ content: [{ type: 'text', text: 'two' }], structuredContent }).text).toBe(
      'two',
    );
  });

  it('reports errors of the tool', () => {
    expect(renderToolResult({ content: [], isError: true }).isError).toBe(true);
    expect(renderToolResult({ content: [], isError: 'yes' }).isError).toBe(false);
  });

  it.each([
    [{ task: {} }],
    [{ task: {}, structuredContent: null }],
    [{ content: {} }],
    [{ content: [], resultType: 'input_required' }],
  ])('rejects %j', (result) => {
    expect(() => renderToolResult(result)).toThrow('invalid_result');
  });

  it('treats null as absent', () => {
    const content = [{ type: 'text', text: 'done' }];
    expect(renderToolResult({ content, resultType: null, structuredContent: null }).text).toBe('done');
    expect(renderToolResult({ task: null, inputRequests: null }).text).toBe('');
  });
});

describe('Images of a result', () => {
  const PNG = 'iVBORw0KGgoAAAAN';
  const image = (data: unknown, mimeType = 'image/png') => ({ type: 'image', mimeType, data });
  const imagesOf = (content: unknown[], maxBytes = 100, removal = SecretRemoval.none) =>
    renderToolResult({ content }, removal, maxBytes).images?.map(({ data }) => data);

  it.each([
    ['image/png', PNG],
    ['image/jpeg', '/9j/4AAQSkZJRgAB'],
    ['image/gif', 'R0lGODlhAQABAIAA'],
    ['image/webp', 'UklGRiQAAABXRUJQ'],
  ])('are kept when they are of type %s', (mimeType, data) => {
    expect(imagesOf([image(data, mimeType)])).toEqual([data]);
  });

  it.each([
    ['of another type', image('PHN2ZyAvPg==', 'image/svg+xml')],
    ['whose type does not match their data', image(PNG, 'image/jpeg')],
    ['that are not base64', image(`${PNG}"><`)],
    ['without data', image(undefined)],
    ['of another kind', { ...image(PNG), type: 'audio' }],
    ['that are null', null],
  ])('are omitted: those %s', (_name, block) => {
    expect(imagesOf([block])).toBeUndefined();
  });

  it('are kept up to the limit, which is 0 by default', () => {
    expect(imagesOf([image(PNG), image(PNG.repeat(3)), image(PNG)], 40)).toEqual([PNG, PNG]);
    expect(imagesOf([image(PNG)], 0)).toBeUndefined();
  });

  it('are omitted when they contain sent credentials', () => {
    const secret = 'secret-of-the-system';
    const data = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from(secret)]).toString('base64');
    expect(imagesOf([image(data)])).toEqual([data]);
    expect(imagesOf([image(data)], 100, new SecretRemoval([secret]))).toBeUndefined();
  });
});
