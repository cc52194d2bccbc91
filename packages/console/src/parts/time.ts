import { texts } from '../texts/texts.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats a time relative to now. */
export function relativeTime(at: Date, now: number): string {
  const distance = at.getTime() - now;
  const unit = UNITS.find(([, ms]) => Math.abs(distance) >= ms);
  return unit === undefined ? texts.parts.justNow : relative.format(Math.round(distance / unit[1]), unit[0]);
}

/** Formats a time in the local time zone. */
export function absoluteTime(at: Date): string {
  return absolute.format(at);
}

/** Formats a duration with its two largest units. */
export function duration(ms: number): string {
  if (ms < SECOND_MS) {
    return `${Math.round(ms)} ms`;
  }
  if (ms < MINUTE_MS) {
    return `${(ms / SECOND_MS).toFixed(1)} s`;
  }
  const parts = [
    [Math.floor(ms / DAY_MS), 'd'],
    [Math.floor(ms / HOUR_MS) % 24, 'h'],
    [Math.floor(ms / MINUTE_MS) % 60, 'min'],
    [Math.floor(ms / SECOND_MS) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
