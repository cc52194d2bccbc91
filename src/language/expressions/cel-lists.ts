import { celList, type CelList, type CelValue } from '@bufbuild/cel';

/** What CEL takes for a list: elements in order, each read when it is asked for. */
abstract class ListView {
  abstract readonly size: number;

  /** @param index from 0 to `size` - 1 */
  protected abstract at(index: number): CelValue;

  get(index: number): CelValue | undefined {
    return Number.isInteger(index) && index >= 0 && index < this.size ? this.at(index) : undefined;
  }

  *values(): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index += 1) {
      yield this.at(index);
    }
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }
}
// The library knows its lists by a member that only they have.
Object.setPrototypeOf(ListView.prototype, celList([]));

class JsonList extends ListView {
  constructor(
    private readonly elements: readonly unknown[],
    private readonly read: (element: unknown) => CelValue,
  ) {
    super();
  }

  get size(): number {
    return this.elements.length;
  }

  protected at(index: number): CelValue {
    return this.read(this.elements[index]);
  }
}

/**
 * A list made by `+`: the first elements of an array that grows at its end only. The macros `map` and `filter` add one element at a time,
 * and none of the lists in between is copied.
 */
class JoinedList extends ListView {
  /** @param elements of this list, and behind them those of longer ones that were made of it */
  constructor(
    readonly elements: CelValue[],
    readonly size: number,
  ) {
    super();
  }

  protected at(index: number): CelValue {
    return this.elements[index] as CelValue;
  }
}

/** A list of JSON. Its elements are read when they are asked for, so a long one costs nothing by itself. */
export function jsonList(elements: readonly unknown[], read: (element: unknown) => CelValue): CelList {
  return asCelList(new JsonList(elements, read));
}

/**
 * The elements of one list and then those of another (CEL language definition, `+`). Lists that the library joins nest, and reading them
 * takes quadratic time.
 */
export function joined(left: CelList, right: CelList): CelList {
  const elements = canGrow(left) ? left.elements : Array.from(left);
  for (const element of right) {
    elements.push(element);
  }
  return asCelList(new JoinedList(elements, elements.length));
}

/** How many elements `joined` copies. */
export function copiesOfJoined(left: CelList, right: CelList): number {
  return (canGrow(left) ? 0 : left.size) + right.size;
}

/** Whether no longer list was made of it before. */
function canGrow(list: CelList): list is CelList & JoinedList {
  return list instanceof JoinedList && list.elements.length === list.size;
}

function asCelList(view: ListView): CelList {
  return view as unknown as CelList;
}
