/**
 * Returns whether this release of Node misreads names in JSON: after an object with a name that ends in a backslash, it
 * reads an escaped name as that name (nodejs/node#63785). Releases before 24.22 and 26.12 do.
 */
export function misreadsJsonNames(): boolean {
  JSON.parse(String.raw`{"misread":[],"\\":0}`);
  const [, name] = Object.keys(JSON.parse(String.raw`{"misread":1,"\"":0}`) as object);
  return name !== '"';
}
