import { celList, type CelList, type CelValue } from '@bufbuild/cel';

/** What the library takes for a list. */
const A_LIST = celList([]);

/**
 * A list made by `+`: the first elements of an array that grows at its end only. The macros `map` and `filter` add one element at a time,
 * and none of the lists in between is copied.
 */
class JoinedList {
  /** @param elements of this list, and behind them those of longer ones that were made of it */
  constructor(
    readonly elements: CelValue[],
    readonly size: number,
  ) {}

  get(index: number): CelValue | undefined {
    return index < this.size ? this.elements[index] : undefined;
  }

  *values(): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index += 1) {
      yield this.elements[index] as CelValue;
    }
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }
}
Object.setPrototypeOf(JoinedList.prototype, A_LIST);

/**
 * The elements of one list and then those of another (CEL language definition, `+`). Lists that the library joins nest, and reading them
 * takes quadratic time.
 */
export function joined(left: CelList, right: CelList): CelList {
  const elements = roomBehind(left);
  for (const element of right) {
    elements.push(element);
  }
  return new JoinedList(elements, elements.length) as CelList & JoinedList;
}

/** An array that ends with the list; the list's own one unless a longer list was made of it before. */
function roomBehind(list: CelList): CelValue[] {
  if (list instanceof JoinedList) {
    const { elements, size } = list;
    return elements.length === size ? elements : elements.slice(0, size);
  }
  return Array.from(list);
}
