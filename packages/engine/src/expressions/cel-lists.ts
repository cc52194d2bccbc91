import { celList, type CelList, type CelValue } from '@bufbuild/cel';

/** A CEL list that converts elements on access. */
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
// The library recognizes its lists by a private member.
Object.setPrototypeOf(ListView.prototype, celList([]));

/**
 * A list created by `+`: a prefix of an array that only grows at its end. The macros `map` and `filter` append element by element
 * without copying the intermediate lists.
 */
class JoinedList extends ListView {
  /** @param grown elements of this list; longer lists made from it append to the same array */
  constructor(readonly grown: CelValue[]) {
    super(grown, grown.length, (element) => element as CelValue);
  }
}

/** Wraps a JSON list. Elements are converted on access, so a long list costs nothing up front. */
export function jsonList(elements: readonly unknown[], read: (element: unknown) => CelValue): CelList {
  return asCelList(new ListView(elements, elements.length, read));
}

/**
 * Concatenates two lists (CEL language definition, `+`). Lists concatenated by the library nest, so reading them takes quadratic
 * time.
 */
export function concatenated(left: CelList, right: CelList): CelList {
  const elements = canGrow(left) ? left.grown : Array.from(left);
  for (const element of right) {
    elements.push(element);
  }
  return asCelList(new JoinedList(elements));
}

/** Returns the number of elements that `concatenated` copies. */
export function countCopies(left: CelList, right: CelList): number {
  return (canGrow(left) ? 0 : left.size) + right.size;
}

/** Whether no longer list has been made from this one yet. */
function canGrow(list: CelList): list is CelList & JoinedList {
  return list instanceof JoinedList && list.grown.length === list.size;
}

function asCelList(view: ListView): CelList {
  return view as unknown as CelList;
}
