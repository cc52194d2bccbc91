import { RE2JS } from '@bufbuild/re2';
import { machinePrice, readingPrice } from './regex-price.js';

type Engine = ReturnType<RE2JS['re2']>;
type Program = Engine['prog'];
type Resolved = ReturnType<Engine['dfa']['resolveEmptyWidth']>;
type Input = Parameters<Engine['_nfaFallback']>[0];
type Charge = (steps: number) => void;

/** Operation codes of the library. Codes from READ on consume a character. */
const OPERATION = { EITHER: 1, EITHER_MATCH: 2, GROUP: 3, IF_PLACE: 4, MATCH: 6, NOTHING: 7, READ: 8 };

/** Characters read and machine parts visited per step. Measured. */
const CHARACTERS_A_STEP = 4;
const PARTS_A_STEP = 4;
const COMPARED_CHARACTERS_A_STEP = 1_000;
/** Factor for case-insensitive comparison of non-ASCII letters. */
const FOLDING = 8;
const STATE_PARTS = 10;
const PLACE_PARTS = 4;
/** Maximum number of cached machine parts of a set of patterns. */
const PARTS_KEPT = 10_000;

/** RE2 patterns, each compiled once. A match is charged while it runs, because its cost cannot be predicted. */
export class MeteredPatterns {
  private readonly machines = new Map<string, Machine>();
  private charge: Charge = () => undefined;
  private parts = 0;

  /**
   * @param charge called before compiling, with steps of half a microsecond
   * @throws Error when it is not an RE2 pattern
   */
  compile(source: string, charge: Charge): void {
    if (!this.machines.has(source)) {
      charge(readingPrice(source.length));
      charge(machinePrice(source));
      this.machines.set(source, new Machine(source, (parts) => this.pay(parts)));
    }
  }

  test(source: string, text: string, charge: Charge): boolean {
    this.charge = charge;
    if (this.parts > PARTS_KEPT) {
      this.machines.forEach((machine) => machine.forget());
      this.parts = 0;
    }
    return this.machines.get(source)?.test(text, charge) ?? false;
  }

  private pay(parts: number): void {
    this.parts += parts;
    this.charge(parts / PARTS_A_STEP);
  }
}

/**
 * The automaton of a pattern. The library builds states during a match and visits many parts for each; these are counted. The
 * library's fallback for too many states takes quadratic time and is replaced.
 */
class Machine {
  private readonly engine: Engine;
  private readonly weight: number;
  /** Resolved states by the bits of a position, such as the start of a word. */
  private readonly resolved = new WeakMap<Int32Array, Resolved[]>();
  private scanned = 0;

  constructor(
    source: string,
    private readonly pay: (parts: number) => void,
  ) {
    this.engine = RE2JS.compile(source).re2();
    this.weight = /\(\?[a-zA-Z]*i/.test(source) ? FOLDING : 1;
    // The prefilter searches the whole text for each literal and never changes the result.
    this.engine.prefilter = null;
    this.meter();
  }

  test(text: string, charge: Charge): boolean {
    const searched = this.engine.prefixComplete ? this.engine.prefix.length : 0;
    charge(1 + text.length / CHARACTERS_A_STEP + (text.length * searched) / COMPARED_CHARACTERS_A_STEP);
    return this.engine.match(text);
  }

  forget(): void {
    const { dfa } = this.engine;
    dfa.stateCache = new Map();
    dfa.stateCount = 0;
    dfa.startState = null;
    dfa.cacheClears = 0;
    dfa.failed = false;
  }

  private meter(): void {
    const { dfa } = this.engine;
    const step = dfa.step.bind(dfa);
    const computeClosure = dfa.computeClosure.bind(dfa);
    const resolveEmptyWidth = dfa.resolveEmptyWidth.bind(dfa);
    dfa.step = (state, rune, anchor, context) => {
      this.scanned = state.nfaStates.length * (rune < 128 ? 1 : this.weight);
      return step(state, rune, anchor, context);
    };
    dfa.computeClosure = (parts) => {
      const closure = computeClosure(parts);
      this.pay(STATE_PARTS + this.scanned + parts.length + closure.pcs.length);
      return closure;
    };
    // The library calls this for every character.
    dfa.resolveEmptyWidth = (parts, context) => {
      const known = this.resolved.get(parts) ?? [];
      this.resolved.set(parts, known);
      const resolved = known[context] ?? resolveEmptyWidth(parts, context);
      if (known[context] === undefined) {
        known[context] = resolved;
        this.pay(PLACE_PARTS + parts.length + resolved.resolvedPCs.size);
      }
      return resolved;
    };
    // eslint-disable-next-line no-underscore-dangle -- the library offers no other hook
    this.engine._nfaFallback = (input, from) => matchByParts(this.engine.prog, input, from, this.pay);
  }
}

/** Whether the program matches from a position on. Visits each part at most once per character. */
function matchByParts(program: Program, input: Input, from: number, pay: (parts: number) => void): boolean {
  let before: number[] = [];
  for (let at = from; ;) {
    const reached = reachedFrom(program, [...before, program.start], input.context(at));
    pay(before.length + reached.length);
    if (reached.some((part) => program.getInst(part).op === OPERATION.MATCH)) {
      return true;
    }
    const read = input.step(at);
    const width = read & 7;
    if (width === 0) {
      return false;
    }
    before = reached
      .map((part) => program.getInst(part))
      .filter((part) => part.op >= OPERATION.READ && part.matchRune(read >> 3))
      .map(({ out }) => out);
    at += width;
  }
}

/** Returns all parts reachable without consuming a character. */
function reachedFrom(program: Program, parts: number[], place: number): number[] {
  const reached = new Set<number>();
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (!reached.has(part)) {
      reached.add(part);
      const { op, out, arg } = program.getInst(part);
      if (op === OPERATION.EITHER || op === OPERATION.EITHER_MATCH) {
        parts.push(arg, out);
      } else if (op === OPERATION.GROUP || op === OPERATION.NOTHING) {
        parts.push(out);
      } else if (op === OPERATION.IF_PLACE && (arg & ~place) === 0) {
        parts.push(out);
      }
    }
  }
  return [...reached];
}
