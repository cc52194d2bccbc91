/** Meaning of a color. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet';

const WORDS: Readonly<Record<Exclude<Tone, 'quiet'>, RegExp>> = {
  good: /^(finished|resolved|succeeded|success|healthy|up|ok|ready|enabled|active|completed|done)$/i,
  busy: /^(started|running|created|pending|scheduled|draft|claimed)$/i,
  warn: /^(onhold|on_hold|waiting|degraded|warning|review|unknown|expired|denied|halted)$/i,
  bad: /^(open|failed|terminated|down|unhealthy|error|incident|unreachable|critical)$/i,
};

/** Returns the tone of any state of the service. */
export function toneOf(state: string): Tone {
  const tones = Object.entries(WORDS) as [Tone, RegExp][];
  return tones.find(([, words]) => words.test(state))?.[0] ?? 'quiet';
}
