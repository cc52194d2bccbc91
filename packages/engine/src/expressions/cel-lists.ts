import { celList, type CelList, type CelValue } from '@bufbuild/cel';

/** What CEL takes for a list: elements in order, each read when it is asked for. */
class ListView {
  constructor(
    readonly elements: readonly unknown[],
    readonly size: number,
    private readonly read: (element: unknown) => CelValue,
  ) {}

  get(index: number): CelValue | undefined {
    const isThere = Number.isInteger(index) && index >= 0 && index < this.size;
    return isThere ? this.read(this.elements[index]) : undefined;
  }

  *values(): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index += 1) {
      yield this.read(this.elements[index]);
    }
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }
}
// The library knows its lists by a member that only they have.
Object.setPrototypeOf(ListView.prototype, celList([]));

/**
 * A list made by `+`: the first elements of an array that grows at its end only. The macros `map` and `filter` add one element at a time,
 * and none of the lists in between is copied.
 */
class JoinedList extends ListView {
  /** @param grown elements of this list; those of longer ones that are made of it are added behind them */
  constructor(readonly grown: CelValue[]) {
    super(grown, grown.length, (element) => element as CelValue);
  }
}

/** A list of JSON. Its elements are read when they are asked for, so a long one costs nothing by itself. */
export function jsonList(elements: readonly unknown[], read: (element: unknown) => CelValue): CelList {
  return asCelList(new ListView(elements, elements.length, read));
}

/**
 * The elements of one list and then those of another (CEL language definition, `+`). Lists that the library joins nest, and reading them
 * takes quadratic time.
 */
export function joined(left: CelList, right: CelList): CelList {
  const elements = canGrow(left) ? left.grown : Array.from(left);
  for (const element of right) {
    elements.push(element);
  }
  return asCelList(new JoinedList(elements));
}

/** How many elements `joined` copies. */
export function copiesOfJoined(left: CelList, right: CelList): number {
  return (canGrow(left) ? 0 : left.size) + right.size;
}

/** Whether no longer list was made of it before. */
function canGrow(list: CelList): list is CelList & JoinedList {
  return list instanceof JoinedList && list.grown.length === list.size;
}

function asCelList(view: ListView): CelList {
  return view as unknown as CelList;
}
