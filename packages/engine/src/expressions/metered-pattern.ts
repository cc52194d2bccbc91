import { RE2JS } from '@bufbuild/re2';
import { machinePrice, readingPrice } from './regex-price.js';

type Engine = ReturnType<RE2JS['re2']>;
type Program = Engine['prog'];
type Resolved = ReturnType<Engine['dfa']['resolveEmptyWidth']>;
type Input = Parameters<Engine['_nfaFallback']>[0];
type Charge = (steps: number) => void;

/** Operations of a part of a machine, as the library numbers them; all from the last one on read a character. */
const OPERATION = { EITHER: 1, EITHER_MATCH: 2, GROUP: 3, IF_PLACE: 4, MATCH: 6, NOTHING: 7, READ: 8 };

/** Characters that are read, and parts of the machine that are looked at, for one step. Measured. */
const CHARACTERS_A_STEP = 4;
const PARTS_A_STEP = 4;
const COMPARED_CHARACTERS_A_STEP = 1_000;
/** Comparing a letter that is no ASCII in either case takes so many times longer. */
const FOLDING = 8;
const STATE_PARTS = 10;
const PLACE_PARTS = 4;
/** Parts of machines that a set of patterns keeps from one match to the next. */
const PARTS_KEPT = 10_000;

/** Patterns of RE2, each compiled once. A match charges what it does while it does so: no text tells it beforehand. */
export class MeteredPatterns {
  private readonly machines = new Map<string, Machine>();
  private charge: Charge = () => undefined;
  private parts = 0;

  /**
   * @param charge pays, in steps of half a microsecond, before anything is compiled
   * @throws Error when it is no pattern of RE2
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
 * The machine of a pattern. The library makes states of it while it matches, and goes through many parts to make one: these
 * are counted. What the library does where it has too many states takes quadratic time, and is replaced.
 */
class Machine {
  private readonly engine: Engine;
  private readonly weight: number;
  /** What a state comes to at a place such as the beginning of a word, by the bits of the place. */
  private readonly resolved = new WeakMap<Int32Array, Resolved[]>();
  private scanned = 0;

  constructor(
    source: string,
    private readonly pay: (parts: number) => void,
  ) {
    this.engine = RE2JS.compile(source).re2();
    this.weight = /\(\?[a-zA-Z]*i/.test(source) ? FOLDING : 1;
    // It looks for each literal of the pattern in the whole text, and changes no result.
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
    // The library asks for it at every character.
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
    // eslint-disable-next-line no-underscore-dangle -- the library has no other place for it
    this.engine._nfaFallback = (input, from) => matchByParts(this.engine.prog, input, from, this.pay);
  }
}

/** Whether a machine matches from a position on. At each character it goes through each part at most once. */
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

/** All parts that a machine comes to without reading a character. */
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
