import type { JSX } from 'preact';
import { TextArea } from '../../parts/fields.js';
import { isObject, parsedJson } from '../../parts/json.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances;

/** Parses a merge patch; undefined if it is not a JSON object. Empty text is an empty patch. */
export function patchOf(text: string): object | undefined {
  const value = parsedJson(text.trim() === '' ? '{}' : text);
  return isObject(value) ? value : undefined;
}

/** Editor of corrections, a JSON merge patch of process data (RFC 7396). */
export function PatchEditor({
  text,
  onChange,
  disabled = false,
}: {
  text: string;
  onChange: (text: string) => void;
  disabled?: boolean;
}): JSX.Element {
  return (
    <TextArea
      label={t.patch}
      hint={t.patchHint}
      error={patchOf(text) === undefined ? t.notAPatch : undefined}
      isCode
      rows={6}
      disabled={disabled}
      value={text}
      onChange={onChange}
    />
  );
}
